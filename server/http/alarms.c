#include "http/alarms.h"

#include "base/alloc.h"
#include "http/loop.h"

#include <errno.h>
#include <stdlib.h>

struct alarm {
    struct list link;
    struct timer timer;
    struct loop *loop;
    int64_t id, interval; /* 0: once */
    void (*ring)(void *arg);
    void *arg;
};

static void end(struct alarm *alarm)
{
    alarm->loop->alarm_count--;
    timers_cancel(&alarm->loop->timers, &alarm->timer);
    list_remove(&alarm->link);
    free(alarm);
}

/* The function may cancel whatever it likes, also this one: so that is first put right, and not touched
 * again. */
static void ring(struct timer *timer)
{
    struct alarm *alarm = list_item(timer, struct alarm, timer);
    void (*told)(void *arg) = alarm->ring;
    void *arg = alarm->arg;
    if (alarm->interval > 0)
        timers_set(&alarm->loop->timers, timer, alarm->loop->now + alarm->interval);
    else
        end(alarm);
    told(arg);
}

int64_t alarm_set(struct loop *loop, int64_t ms, int again, void (*told)(void *arg), void *arg)
{
    if (loop->leaving)
        return -ECANCELED;
    if (loop->alarm_count >= ALARMS_MAX)
        return -EAGAIN;
    struct alarm *alarm = xzalloc(sizeof *alarm);
    *alarm = (struct alarm){.loop = loop,
                            .id = ++loop->last_alarm,
                            .interval = again ? ms : 0,
                            .ring = told,
                            .arg = arg,
                            .timer.fire = ring};
    list_append(&loop->alarms, &alarm->link);
    loop->alarm_count++;
    timers_set(&loop->timers, &alarm->timer, loop->now + ms);
    return alarm->id;
}

int alarm_cancel(struct loop *loop, int64_t id)
{
    list_for_each (link, &loop->alarms) {
        struct alarm *alarm = list_item(link, struct alarm, link);
        if (alarm->id == id) {
            end(alarm);
            return 0;
        }
    }
    return -ENOENT;
}

void alarms_cancel(struct loop *loop, bool all)
{
    list_for_each (link, &loop->alarms) {
        struct alarm *alarm = list_item(link, struct alarm, link);
        if (all || alarm->interval > 0)
            end(alarm);
    }
}

/* ---- from elsewhere ---- */

struct errand {
    struct mail mail;
    void (*run)(void *arg);
    void *arg;
};

static void on_errand(struct mail *mail)
{
    struct errand errand = *list_item(mail, struct errand, mail);
    free(list_item(mail, struct errand, mail));
    if (loop_current() != NULL) /* else the loop has ended, and its functions with it */
        errand.run(errand.arg);
}

void alarm_post(struct loop *loop, void (*run)(void *arg), void *arg)
{
    struct errand *errand = xalloc(sizeof *errand);
    *errand = (struct errand){.mail.run = on_errand, .run = run, .arg = arg};
    mailbox_post(&loop->mailbox, &errand->mail);
}
