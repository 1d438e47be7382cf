/* GET ?do= what can be done with a deferred event, right and wrong; ?ms= how long it takes. */
#include <cloudgate.h>

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static cg_counter *gone;

static int init(void)
{
    gone = cg_counter_open("defer/gone");
    return gone ? 0 : -1;
}

static void pause_ms(const char *text)
{
    long ms = text ? atol(text) : 0;
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void *answer(void *arg)
{
    cg_event *event = arg;
    pause_ms(cg_query(event, "ms"));
    if (cg_gone(event))
        cg_counter_add(gone, 1);
    cg_set_header(event, "x-later", cg_sprintf(event, "%d", 7));
    cg_reply_template(event, 200, "page.html", NULL, 0);
    cg_print(event, "%s", (const char *)cg_alloc(event, 100000));
    cg_finish(event);
    return NULL;
}

static void *finish_only(void *arg)
{
    cg_finish(arg);
    return NULL;
}

static void *finish_twice(void *arg)
{
    cg_reply(arg, 200, "text/plain", "once");
    cg_finish(arg);
    pause_ms("20");
    cg_finish(arg);
    return NULL;
}

static void in_thread(cg_event *event, void *(*run)(void *))
{
    pthread_t thread;
    cg_defer(event);
    if (pthread_create(&thread, NULL, run, event) != 0)
        abort();
    pthread_detach(thread);
}

static void handle(cg_event *event)
{
    const char *act = cg_query(event, "do") ? cg_query(event, "do") : "answer";
    if (strcmp(act, "answer") == 0) {
        in_thread(event, answer);
    } else if (strcmp(act, "at-once") == 0) {
        cg_defer(event);
        cg_defer(event);
        cg_reply(event, 200, "text/plain", "at once");
        cg_finish(event);
    } else if (strcmp(act, "empty") == 0) {
        in_thread(event, finish_only);
    } else if (strcmp(act, "twice") == 0) {
        in_thread(event, finish_twice);
    } else if (strcmp(act, "never") == 0) {
        cg_reply(event, 200, "text/plain", "never sent");
        cg_defer(event);
    } else if (strcmp(act, "lock") == 0) {
        if (cg_shm_lock(event, "defer", 0) != 0)
            cg_reply(event, 423, "text/plain", "held");
        else if (cg_query(event, "ms"))
            in_thread(event, answer);
        else
            cg_reply(event, 200, "text/plain", "free");
    } else if (strcmp(act, "undeferred") == 0) {
        cg_finish(event);
        cg_reply(event, 200, "text/plain", "all the same");
    } else {
        cg_reply(event, 200, "text/plain", "%lld", (long long)cg_counter_get(gone));
    }
}

CG_MODULE(.init = init, .handle = handle);
