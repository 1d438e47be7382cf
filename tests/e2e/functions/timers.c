/* GET /api/timers?how=after: answered after 30 ms by a timer; every: after three rings of one; cancel: by the second of
   two timers, because the first was cancelled; post: by the other loop, and back. */
#include <cloudgate.h>
#include <errno.h>

struct job {
    cg_event *event;
    int64_t timer;
    int rings, home;
};

static cg_counter *beats;

static int init(void)
{
    beats = cg_counter_open("timers/beats");
    if (cg_loop() != -1 || cg_after(1, NULL, NULL) != -EINVAL)
        return -1;
    return beats ? 0 : -1;
}

static void beat(void *arg)
{
    (void)arg;
    cg_counter_add(beats, 1);
}

/* The pool's threads have no timers. */
static int thread_init(void)
{
    int64_t timer = cg_every(10, beat, NULL);
    return timer > 0 || (cg_loop() < 0 && timer == -ENOTSUP) ? 0 : -1;
}

static void answer(void *arg)
{
    struct job *job = arg;
    cg_reply(job->event, 200, "text/plain", "%d rings, loop %s", job->rings, cg_loop() == job->home ? "same" : "other");
    cg_finish(job->event);
}

static void ring(void *arg)
{
    struct job *job = arg;
    if (++job->rings < 3)
        return;
    cg_cancel(job->timer);
    answer(job);
}

static void wrong(void *arg)
{
    ((struct job *)arg)->rings = 100;
}

static void over_there(void *arg)
{
    struct job *job = arg;
    job->rings = cg_loop() == (job->home + 1) % cg_loops();
    if (cg_post(job->home, answer, job) != 0)
        cg_finish(job->event);
}

static void timers(cg_event *event)
{
    const char *how = cg_query(event, "how");
    struct job *job = cg_alloc(event, sizeof *job);
    *job = (struct job){.event = event, .home = cg_loop(), .timer = 1};
    if (strcmp(how, "beats") == 0) {
        cg_reply(event, 200, "text/plain", "%lld", (long long)cg_counter_get(beats));
        return;
    }
    cg_defer(event);
    if (strcmp(how, "after") == 0) {
        job->timer = cg_after(30, answer, job);
    } else if (strcmp(how, "every") == 0) {
        job->timer = cg_every(5, ring, job);
    } else if (strcmp(how, "cancel") == 0) {
        int64_t first = cg_after(20, wrong, job);
        job->timer = cg_after(60, answer, job);
        int cancelled = cg_cancel(first);
        job->rings = cancelled == 0 && cg_cancel(first) == -ENOENT ? 7 : 0;
    } else {
        int error = cg_post(cg_loops(), answer, job) == -EINVAL
                        ? cg_post((job->home + 1) % cg_loops(), over_there, job)
                        : -EINVAL;
        job->timer = error == 0 ? 1 : -1;
    }
    if (job->timer <= 0) {
        cg_reply(event, 500, "text/plain", "no timer");
        cg_finish(event);
    }
}

CG_MODULE(.init = init, .thread_init = thread_init, .get = timers);
