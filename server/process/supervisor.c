#include "process/supervisor.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "process/banner.h"
#include "process/generation.h"
#include "process/memory.h"
#include "process/signals.h"
#include "shm/shm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STABLE_MS 1000     /* a worker that lived that long after it got ready is replaced at once */
#define BACK_OFF_MS 100    /* else the next one waits: this long at first, */
#define BACK_OFF_MAX 10000 /* then twice as long each time, up to this */
#define STOP_GRACE_MS 500  /* for a worker that keeps its own stop timeout to exit by itself */
#define EXIT_MS 2000       /* for a worker that cannot start to clean up and exit */
#define NEVER INT64_MAX

enum phase {
    PHASE_STARTING, /* the first worker is not ready yet */
    PHASE_SERVING,
    PHASE_STOPPING,
    PHASE_OVER,
};

struct supervisor {
    const struct settings *settings;
    char *const *argv;
    int signal_fd;
    struct sockets sockets;
    struct shm *shm;
    struct generation worker;
    enum phase phase;
    int64_t deadline; /* of the stop, or for the next start; monotonic ms */
    int64_t back_off; /* ms */
    int status;       /* to exit with */
};

/* ---- workers ---- */

static void give_up(struct supervisor *supervisor)
{
    supervisor->phase = PHASE_OVER;
    supervisor->status = 1;
}

/* Chooses the moment of the next start, and says it: what has just happened in what. */
static void plan_start(struct supervisor *supervisor, bool was_stable, const char *what)
{
    int64_t wait = supervisor->back_off;
    if (was_stable)
        wait = 0;
    else if (wait == 0)
        wait = BACK_OFF_MS;
    else if (wait < BACK_OFF_MAX)
        wait = wait * 2 < BACK_OFF_MAX ? wait * 2 : BACK_OFF_MAX;
    supervisor->back_off = wait;
    supervisor->deadline = monotonic_ms() + wait;
    if (wait == 0)
        log_error("%s; starting another one", what);
    else
        log_error("%s; starting another one in %d ms", what, (int)wait);
}

static void start_worker(struct supervisor *supervisor)
{
    supervisor->deadline = NEVER;
    int error = generation_start(&supervisor->worker, supervisor->argv, &supervisor->sockets,
                                 shm_fd(supervisor->shm));
    if (error == 0) {
        supervisor->deadline = monotonic_ms() + supervisor->settings->start_timeout;
        return;
    }
    char *what = xsprintf("cannot start a worker: %s", strerror(-error));
    if (supervisor->phase == PHASE_STARTING) {
        log_error("%s", what);
        give_up(supervisor);
    } else {
        plan_start(supervisor, false, what);
    }
    free(what);
}

static void worker_ready(struct supervisor *supervisor)
{
    const struct generation *worker = &supervisor->worker;
    if (supervisor->phase != PHASE_STOPPING)
        supervisor->deadline = NEVER;
    if (supervisor->phase == PHASE_STARTING) {
        char *banner = banner_text(supervisor->settings, &supervisor->sockets, worker->text);
        supervisor->phase = PHASE_SERVING;
        /* A reader that has gone away (cloudgate | head -1) is none of the server's business. */
        (void)file_write_all(STDOUT_FILENO, banner, strlen(banner));
        free(banner);
    } else {
        log_info("worker %d is ready%s%s", (int)worker->pid, worker->text[0] ? ": " : "", worker->text);
    }
}

static void hear_worker(struct supervisor *supervisor)
{
    switch (generation_listen(&supervisor->worker)) {
    case GENERATION_READY:
        worker_ready(supervisor);
        break;
    case GENERATION_FAILED: /* and it is about to exit; the reason is told when it has */
        supervisor->deadline = monotonic_ms() + EXIT_MS;
        break;
    case GENERATION_QUIET:
        break;
    }
}

/* How it ended, in words. Caller frees. */
static char *describe_end(const struct generation *worker, int status)
{
    const int pid = (int)worker->pid;
    if (worker->failed)
        return xsprintf("worker %d cannot start: %s", pid, worker->text);
    if (WIFSIGNALED(status))
        return xsprintf("worker %d was killed by signal %d (%s)%s", pid, WTERMSIG(status),
                        strsignal(WTERMSIG(status)), worker->ready ? "" : " before it was ready");
    return xsprintf("worker %d ended with exit status %d%s", pid, WEXITSTATUS(status),
                    worker->ready ? "" : " before it was ready");
}

static void worker_ended(struct supervisor *supervisor, int status)
{
    struct generation *worker = &supervisor->worker;
    hear_worker(supervisor); /* its last words */
    bool stable = worker->ready && monotonic_ms() - worker->ready_since >= STABLE_MS;
    char *what = describe_end(worker, status);
    shm_worker_gone(supervisor->shm, worker->pid);
    generation_finish(worker);
    if (supervisor->phase == PHASE_STOPPING) {
        supervisor->phase = PHASE_OVER;
    } else if (supervisor->phase == PHASE_STARTING) {
        log_error("%s", what);
        give_up(supervisor);
    } else {
        plan_start(supervisor, stable, what);
    }
    free(what);
}

/* As PID 1 we inherit every orphan of the container; they only have to be reaped. */
static void reap(struct supervisor *supervisor)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == supervisor->worker.pid)
            worker_ended(supervisor, status);
    }
}

/* ---- the end ---- */

/* Our copies of the sockets are closed first, so that clients are refused from the moment at which the worker
   closes its own, instead of queueing for nobody. A worker that is not ready has no client to finish with. */
static void stop(struct supervisor *supervisor)
{
    const struct settings *settings = supervisor->settings;
    bool again = supervisor->phase == PHASE_STOPPING;
    struct generation *worker = &supervisor->worker;
    supervisor->phase = PHASE_STOPPING;
    sockets_close(&supervisor->sockets);
    if (worker->pid == 0) {
        supervisor->phase = PHASE_OVER;
    } else if (again || !worker->ready || generation_stop(worker) < 0) {
        generation_kill(worker);
    } else {
        log_info("stopping");
        supervisor->deadline = monotonic_ms() + settings->stop_delay + settings->stop_timeout + STOP_GRACE_MS;
    }
}

static void deadline_passed(struct supervisor *supervisor)
{
    supervisor->deadline = NEVER;
    if (supervisor->worker.pid == 0) {
        start_worker(supervisor);
        return;
    }
    if (supervisor->phase == PHASE_STOPPING)
        log_warning("the worker is not done within the stop timeout; ending it");
    else if (!supervisor->worker.ready && !supervisor->worker.failed)
        log_error("worker %d was not ready within START_TIMEOUT (does an init hang?); ending it",
                  (int)supervisor->worker.pid);
    generation_kill(&supervisor->worker);
}

/* ---- the loop ---- */

static void take_signals(struct supervisor *supervisor)
{
    int number;
    while (supervisor->phase != PHASE_OVER && (number = signals_next(supervisor->signal_fd)) != 0) {
        if (number == SIGCHLD)
            reap(supervisor);
        else if (number == SIGTERM || number == SIGINT)
            stop(supervisor);
        else if (number == SIGHUP)
            log_warning("HUP: this version cannot reload; restart it to take up changes");
        else if (number == SIGUSR1)
            log_info("USR1: logs go to stderr, there is no file to open again");
    }
}

static int time_left(const struct supervisor *supervisor)
{
    if (supervisor->deadline == NEVER)
        return -1;
    int64_t left = supervisor->deadline - monotonic_ms();
    return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static void watch(struct supervisor *supervisor)
{
    struct pollfd fds[] = {
        {.fd = supervisor->signal_fd, .events = POLLIN},
        {.fd = supervisor->worker.fd, .events = POLLIN}, /* poll skips -1 */
    };
    if (poll(fds, 2, time_left(supervisor)) < 0)
        return; /* EINTR, of a debugger perhaps */
    if (fds[1].revents != 0)
        hear_worker(supervisor);
    if (fds[0].revents != 0)
        take_signals(supervisor);
    if (supervisor->phase != PHASE_OVER && time_left(supervisor) == 0)
        deadline_passed(supervisor);
}

/* A descriptor for each connection: the usual soft limit is far below what the machine grants. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (before < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) < 0)
        log_warning("limit of open files: stays at %llu: %s", (unsigned long long)before, strerror(errno));
    else if (before < limit.rlim_max)
        log_info("limit of open files: %llu, was %llu", (unsigned long long)limit.rlim_cur,
                 (unsigned long long)before);
}

/* All of it is reserved at once, and a machine that has not enough would start to kill: others first. */
static int open_segment(struct supervisor *supervisor)
{
    const struct settings *settings = supervisor->settings;
    uint64_t available = memory_available("/proc/meminfo", "/sys/fs/cgroup", "/proc/self/cgroup");
    if (settings->shm_file == NULL && settings->shm_size > available)
        return -ENOMEM;
    return shm_create(settings->shm_file, settings->shm_size, &supervisor->shm);
}

static int prepare(struct supervisor *supervisor)
{
    const struct settings *settings = supervisor->settings;
    char *text;
    raise_descriptor_limit();
    supervisor->signal_fd = signals_open();
    if (supervisor->signal_fd < 0) {
        log_error("cannot receive signals: %s", strerror(-supervisor->signal_fd));
        return supervisor->signal_fd;
    }
    int error = sockets_open(&supervisor->sockets, settings, &text);
    if (error < 0) {
        log_error("%s", text);
        free(text);
        return error;
    }
    error = open_segment(supervisor);
    if (error < 0)
        log_error("cannot make the shared memory (SHM_SIZE is %llu bytes%s%s): %s",
                  (unsigned long long)settings->shm_size, settings->shm_file ? ", in " : "",
                  settings->shm_file ? settings->shm_file : "", shm_explain(error));
    return error;
}

int supervisor_run(char *const argv[], const struct settings *settings)
{
    struct supervisor supervisor = {
        .settings = settings,
        .argv = argv,
        .signal_fd = -1,
        .worker = {.fd = -1},
        .deadline = NEVER,
    };
    if (prepare(&supervisor) == 0)
        start_worker(&supervisor);
    else
        give_up(&supervisor);
    while (supervisor.phase != PHASE_OVER)
        watch(&supervisor);
    sockets_close(&supervisor.sockets);
    shm_close(supervisor.shm);
    if (supervisor.signal_fd >= 0)
        close(supervisor.signal_fd);
    return supervisor.status;
}
