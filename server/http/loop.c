#include "http/loop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/access_log.h"
#include "http/alarms.h"
#include "http/app.h"
#include "http/files.h"
#include "http/transport.h"
#include "http/websockets.h"
#include "parse/date.h"

#include <errno.h>
#include <stdlib.h>

#define LONGEST_WAIT_MS 60000

static _Thread_local struct loop *current;

void loop_enter(struct loop *loop)
{
    current = loop;
}

struct loop *loop_current(void)
{
    return current;
}

static void on_mail(h2o_socket_t *socket, const char *error)
{
    struct loop *loop = socket->data;
    (void)error;
    loop_wake(loop);
    mailbox_run(&loop->mailbox);
}

int loop_init(struct loop *loop, unsigned index, const struct app *app)
{
    *loop = (struct loop){.index = index, .app = app, .second = -1};
    int error = mailbox_init(&loop->mailbox);
    if (error != 0)
        return error;
    list_init(&loop->transports);
    list_init(&loop->quarantine);
    list_init(&loop->alarms);
    list_init(&loop->due);
    loop->h2o = h2o_evloop_create();
    error = hangups_init(&loop->hangups, loop->h2o, transport_hang_up);
    if (error != 0)
        return error;
    loop->input = xalloc(LOOP_BUFFER_SIZE);
    loop->plain = xalloc(LOOP_BUFFER_SIZE);
    loop->output.data = xalloc(LOOP_BUFFER_SIZE);
    loop->next_id = (uint64_t)index << 48;
    loop->now = monotonic_ms();
    loop->mail_socket = h2o_evloop_socket_create(loop->h2o, loop->mailbox.fd, H2O_SOCKET_FLAG_DONT_READ);
    loop->mail_socket->data = loop;
    h2o_socket_read_start(loop->mail_socket, on_mail);
    loop_update_date(loop);
    return 0;
}

/* libh2o leaves the epoll descriptor open; a loop ends only when its process does. */
void loop_finish(struct loop *loop)
{
    if (loop == NULL || loop->h2o == NULL)
        return;
    alarms_cancel(loop, true);
    hangups_finish(&loop->hangups);
    h2o_socket_close(loop->mail_socket); /* and with it the mailbox's descriptor */
    loop->mailbox.fd = -1;
    mailbox_finish(&loop->mailbox);
    h2o_evloop_destroy(loop->h2o);
    timers_finish(&loop->timers);
    arena_pool_finish(&loop->arenas);
    free(loop->input);
    free(loop->plain);
    free(loop->output.data);
    files_unpin(loop->files);
    websockets_finish(loop);
    buffer_finish(&loop->access);
    loop->h2o = NULL;
}

void loop_leave(struct loop *loop)
{
    loop->draining = loop->leaving = true;
    alarms_cancel(loop, false); /* of the others one may be what an answer waits for */
    list_for_each (link, &loop->transports)
        transport_drain(list_item(link, struct transport, link));
}

void loop_update_date(struct loop *loop)
{
    int64_t second = (int64_t)time(NULL);
    if (second == loop->second)
        return;
    loop->second = second;
    date_format(second, loop->date);
}

void loop_wake(struct loop *loop)
{
    if (loop->awake)
        return;
    loop->awake = true;
    loop->now = monotonic_ms();
}

void loop_count_refusal(struct loop *loop, int status)
{
    if (status >= 400 && status < 600)
        loop->counts.refused[status - 400]++;
}

static void log_counts(const struct loop *loop)
{
#define N(member) (unsigned long long)loop->counts.member
#define REFUSED(status) N(refused[status - 400])
    log_debug("loop %u: connections %llu, requests %llu; timeouts: head %llu, body %llu, write %llu, idle "
              "%llu; slow streams %llu; HTTP/2 floods %llu; WebSockets %llu, messages %llu, lost %llu, "
              "overflows %llu; "
              "refused: 400 %llu, 408 %llu, 413 %llu, 414 %llu, 431 %llu, 501 %llu, 505 %llu",
              loop->index, N(accepted), N(requests), N(head_timeouts), N(body_timeouts), N(write_timeouts),
              N(idle_closes), N(slow_streams), N(http2_floods), N(websockets), N(websocket_messages),
              N(websockets_lost), N(websocket_overflows), REFUSED(400), REFUSED(408), REFUSED(413),
              REFUSED(414), REFUSED(431), REFUSED(501), REFUSED(505));
#undef REFUSED
#undef N
}

void loop_soon(struct loop *loop, struct loop_task *task)
{
    if (!list_linked(&task->link))
        list_append(&loop->due, &task->link);
}

/* What these ask for has to wait for the next time, so that nobody is kept from the loop. */
static void run_tasks(struct loop *loop)
{
    struct list tasks;
    if (list_empty(&loop->due))
        return;
    list_init(&tasks);
    list_append(&loop->due, &tasks);
    list_remove(&loop->due);
    list_init(&loop->due);
    while (!list_empty(&tasks)) {
        struct loop_task *task = list_item(tasks.next, struct loop_task, link);
        list_remove(&task->link);
        task->run(task);
    }
}

static bool has_work(const struct loop *loop)
{
    return !list_empty(&loop->transports) || loop->away_count > 0 || websockets_count(loop) > 0;
}

void loop_run(struct loop *loop)
{
    while (!loop->leaving || has_work(loop)) {
        int wait = timers_wait(&loop->timers, loop->now);
        if (wait < 0 || wait > LONGEST_WAIT_MS)
            wait = LONGEST_WAIT_MS;
        if (!list_empty(&loop->due))
            wait = 0;
        loop->awake = false;
        if (h2o_evloop_run(loop->h2o, wait) != 0 && errno != EINTR)
            abort(); /* epoll itself failed: nothing on this loop would ever be served again */
        loop->now = monotonic_ms();
        timers_run(&loop->timers, loop->now);
        run_tasks(loop);
    }
    if (loop->app->access != NULL)
        access_log_flush(loop);
    log_counts(loop);
}
