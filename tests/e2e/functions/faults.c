/* Faults beside those of story crash. GET ?how=divide, body (a bad pointer handed to the server), sleep, thread (the
   fault is in a thread of the function's own), later (nothing wrong, 500 ms later). A WebSocket that hears "crash"
   crashes, and else echoes. */
#include <cloudgate.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static volatile int hundred = 100, zero = 0;
static int *volatile nowhere = NULL;
static volatile uintptr_t wild = 16;

static void *fault(void *arg)
{
    *nowhere = 1;
    return arg;
}

static void answer_later(void *arg)
{
    cg_event *event = arg;
    cg_reply(event, 200, "text/plain", "later\n");
    cg_finish(event);
}

static void faults(cg_event *event)
{
    const char *how = cg_query(event, "how") ? cg_query(event, "how") : "";
    pthread_t thread;
    if (strcmp(how, "divide") == 0) {
        cg_reply(event, 200, "text/plain", "%d", hundred / zero);
    } else if (strcmp(how, "body") == 0) {
        cg_write(event, (const char *)wild, 100);
    } else if (strcmp(how, "sleep") == 0) {
        for (;;)
            sleep(1);
    } else if (strcmp(how, "thread") == 0) {
        if (pthread_create(&thread, NULL, fault, NULL) == 0)
            pthread_join(thread, NULL);
    } else {
        cg_defer(event);
        if (cg_after(200, answer_later, event) < 0)
            cg_finish(event);
    }
}

static void message(cg_ws *ws, const cg_message *message)
{
    if (strcmp(message->data.ptr, "crash") == 0)
        *nowhere = 1;
    else if (cg_ws_send(ws, message->data.ptr, message->data.len, message->kind) < 0)
        cg_log(NULL, CG_ERROR, "not sent");
}

CG_MODULE(.get = faults, .message = message);
