/* Streams. GET /api/flow?pieces=N: so many pieces of PIECE bytes, each when there is room for it, from the loop; with
   how=thread from a thread, a few ms apart; how=deaf: without a look at what cg_flush says; how=wait: one piece, and
   then nothing until the client leaves; how=late: a header, and the
   400 of a body that is no JSON, which come too late. how=left: how many have left. */
#include <cloudgate.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define PIECE 10000

struct flow {
    int64_t left;
    int sent;
};

static cg_counter *left_early;

static int init(void)
{
    left_early = cg_counter_open("flow/left");
    return left_early ? 0 : -1;
}

static void put(cg_event *event, struct flow *flow)
{
    char piece[PIECE];
    memset(piece, 'a' + flow->sent++ % 26, sizeof piece);
    cg_write(event, piece, sizeof piece);
    flow->left--;
}

static void more(cg_event *event)
{
    struct flow *flow = event->data;
    while (flow->left > 0) {
        put(event, flow);
        if (cg_flush(event) > 20 * PIECE)
            return;
    }
    if (flow->left-- == 0)
        cg_finish(event);
}

static void *from_thread(void *arg)
{
    cg_event *event = arg;
    struct flow *flow = event->data;
    const struct timespec pause = {0, 2000000};
    while (flow->left > 0) {
        put(event, flow);
        if (cg_flush(event) < 0)
            break;
        nanosleep(&pause, NULL);
    }
    cg_finish(event);
    return NULL;
}

static void deaf(cg_event *event, struct flow *flow)
{
    while (flow->left > 0) {
        put(event, flow);
        if (cg_flush(event) == -EPIPE)
            break;
    }
    cg_finish(event);
}

static void closed(cg_event *event)
{
    cg_counter_add(left_early, 1);
    cg_finish(event);
}

static void start_thread(cg_event *event)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, from_thread, event) == 0)
        pthread_detach(thread);
    else
        cg_finish(event);
}

static void flow(cg_event *event)
{
    const char *how = cg_query(event, "how") ? cg_query(event, "how") : "loop";
    struct flow *flow = cg_alloc(event, sizeof *flow);
    if (strcmp(how, "left") == 0) {
        cg_reply(event, 200, "text/plain", "%lld", (long long)cg_counter_get(left_early));
        return;
    }
    if (cg_parse_int(cg_query(event, "pieces"), 0, 100000, &flow->left) != 0)
        flow->left = 1;
    event->data = flow;
    cg_set_header(event, "x-flow", how);
    cg_stream(event);
    if (strcmp(how, "thread") == 0) {
        start_thread(event);
    } else if (strcmp(how, "deaf") == 0) {
        deaf(event, flow);
    } else if (strcmp(how, "wait") == 0) {
        cg_on_close(event, closed);
        put(event, flow);
        if (cg_flush(event) < 0)
            cg_log(event, CG_ERROR, "the first piece was not taken");
    } else {
        if (strcmp(how, "late") == 0 && cg_json(event) == NULL)
            cg_set_header(event, "x-late", "1");
        cg_on_drain(event, more);
        more(event);
    }
}

CG_MODULE(.init = init, .get = flow);
