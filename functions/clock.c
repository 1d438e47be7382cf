/* GET /api/clock: the time once a second, as server-sent events. However many listen, one thread tells them
 * all. */
#include <cloudgate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static pthread_t thread;
static atomic_bool over;

static void *tell_time(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        char text[32];
        time_t now = time(NULL);
        struct tm parts;
        size_t len = strftime(text, sizeof text, "%H:%M:%S UTC", gmtime_r(&now, &parts));
        if (cg_publish("clock", text, len, CG_TEXT) != 0)
            cg_log(NULL, CG_WARNING, "the time was not told");
        nanosleep(&(struct timespec){1, 0}, NULL);
    }
    return NULL;
}

static int init(void)
{
    return pthread_create(&thread, NULL, tell_time, NULL);
}

static void fini(void)
{
    atomic_store(&over, true);
    pthread_join(thread, NULL);
}

static void follow(cg_event *event)
{
    cg_set_header(event, "cache-control", "no-store");
    if (cg_subscribe(event, "clock") != 0)
        cg_reply(event, 503, "text/plain", "not now\n");
}

CG_MODULE(.init = init, .fini = fini, .get = follow);
