#include "process/supervisor.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "process/banner.h"
#include "process/control.h"
#include "process/crew.h"
#include "process/descriptors.h"
#include "process/segment.h"
#include "process/signals.h"
#include "process/status.h"
#include "process/watcher.h"
#include "shm/shm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STABLE_MS 1000     /* a worker that lived that long after it got ready is replaced at once */
#define BACK_OFF_MS 100    /* else the next one waits: this long at first, */
#define BACK_OFF_MAX 10000 /* then twice as long each time, up to this */
#define STOP_GRACE_MS 500  /* for a worker that keeps its own stop timeout to exit by itself */
#define LEAVE_MS 1000      /* for a worker that retires to accept no more */
#define EXIT_MS 2000       /* for a worker that cannot start to clean up and exit */

enum phase {
    PHASE_STARTING, /* no worker has been ready yet */
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
    struct control control;
    struct crew crew;
    enum phase phase;
    int64_t go_by;    /* when the one that serves may accept, whatever the old one says; CREW_NEVER */
    int64_t restart;  /* when the next worker is started; CREW_NEVER */
    int64_t back_off; /* ms */
    int64_t stop_by;  /* or all are ended */
    struct watcher watcher;
    struct status status;
    bool reload_wanted; /* once there is room for another generation */
    int exit_status;    /* to exit with */
};

/* ---- starting ---- */

static void give_up(struct supervisor *supervisor)
{
    supervisor->phase = PHASE_OVER;
    supervisor->exit_status = 1;
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
    supervisor->restart = monotonic_ms() + wait;
    if (wait == 0)
        log_error("%s; starting another one", what);
    else
        log_error("%s; starting another one in %d ms", what, (int)wait);
}

static int start_worker(struct supervisor *supervisor, bool reload)
{
    struct member *member = crew_with(&supervisor->crew, ROLE_NONE), *oldest;
    supervisor->restart = CREW_NEVER;
    if (member == NULL && !reload && (oldest = crew_oldest(&supervisor->crew)) != NULL)
        generation_kill(&oldest->process); /* all are waiting for one that serves */
    watcher_take(&supervisor->watcher);
    int error = member == NULL ? -EAGAIN
                               : generation_start(&member->process, supervisor->argv, &supervisor->sockets,
                                                  shm_fd(supervisor->shm), reload);
    if (error == 0) {
        member->role = ROLE_STARTING;
        member->held = reload;
        member->deadline = monotonic_ms() + supervisor->settings->start_timeout;
    }
    return error;
}

static void start_serving(struct supervisor *supervisor)
{
    int error = start_worker(supervisor, false);
    if (error == 0)
        return;
    char *what = xsprintf("cannot start a worker: %s", strerror(-error));
    if (supervisor->phase == PHASE_STARTING) {
        log_error("%s", what);
        give_up(supervisor);
    } else {
        plan_start(supervisor, false, what);
    }
    free(what);
}

/* ---- reloading ---- */

static void end_reload(struct supervisor *supervisor, const char *word, const char *what)
{
    status_note_outcome(&supervisor->status, word, what);
    control_answer_all(&supervisor->control, "reload", supervisor->status.outcome);
}

static void begin_reload(struct supervisor *supervisor)
{
    supervisor->reload_wanted = false;
    supervisor->status.reloads++;
    int error = start_worker(supervisor, true);
    if (error == 0)
        return;
    log_error("reload: cannot start a worker: %s; the old one goes on", strerror(-error));
    end_reload(supervisor, "failed", strerror(-error));
}

/* One at a time, and what comes meanwhile is one more, since it may have begun too early to see it. */
static void try_reload(struct supervisor *supervisor)
{
    if (supervisor->reload_wanted && supervisor->phase == PHASE_SERVING &&
        crew_with(&supervisor->crew, ROLE_SERVING) != NULL &&
        crew_with(&supervisor->crew, ROLE_STARTING) == NULL &&
        crew_with(&supervisor->crew, ROLE_NONE) != NULL)
        begin_reload(supervisor);
}

static void reload(struct supervisor *supervisor, const char *reason)
{
    log_info("reload: %s", reason);
    snprintf(supervisor->status.reason, sizeof supervisor->status.reason, "%s", reason);
    supervisor->reload_wanted = true;
    try_reload(supervisor);
}

static bool is_reloading(struct supervisor *supervisor)
{
    return supervisor->reload_wanted || crew_with(&supervisor->crew, ROLE_STARTING) != NULL;
}

static void retire(struct supervisor *supervisor, struct member *member)
{
    member->role = ROLE_RETIRING;
    member->deadline = monotonic_ms() + supervisor->settings->drain_timeout + STOP_GRACE_MS;
    if (generation_retire(&member->process) < 0)
        generation_kill(&member->process);
}

static void member_ready(struct supervisor *supervisor, struct member *member)
{
    const struct generation *worker = &member->process;
    struct member *old = crew_with(&supervisor->crew, ROLE_SERVING);
    member->deadline = CREW_NEVER;
    if (supervisor->phase == PHASE_STOPPING)
        return;
    member->role = ROLE_SERVING;
    if (supervisor->phase == PHASE_STARTING) {
        char *banner = banner_text(supervisor->settings, &supervisor->sockets, worker->text);
        supervisor->phase = PHASE_SERVING;
        /* A reader that has gone away (cloudgate | head -1) is none of the server's business. */
        (void)file_write_all(STDOUT_FILENO, banner, strlen(banner));
        free(banner);
    } else {
        log_info("worker %d is ready%s%s", (int)worker->pid, worker->text[0] ? ": " : "", worker->text);
    }
    if (old != NULL)
        retire(supervisor, old);
    supervisor->go_by = monotonic_ms() + (old != NULL ? LEAVE_MS : 0);
}

/* None is accepted by the old one after the new one has accepted its first: no client sees the old code
   again. The sockets queue meanwhile. */
static void hand_over(struct supervisor *supervisor)
{
    struct member *serving = crew_with(&supervisor->crew, ROLE_SERVING);
    supervisor->go_by = CREW_NEVER;
    if (serving == NULL || !serving->held)
        return;
    serving->held = false;
    (void)generation_go(&serving->process); /* if it is gone, that is seen to elsewhere */
    end_reload(supervisor, "ok", serving->process.text);
}

/* It accepts no more; the sockets queue for the next one. */
static void replace_faulted(struct supervisor *supervisor, struct member *member)
{
    const bool served = member->role == ROLE_SERVING;
    char *what =
        xsprintf("a function of %s crashed in worker %d", member->process.text, (int)member->process.pid);
    if (supervisor->phase == PHASE_STOPPING || !served) {
        log_error("%s", what);
    } else {
        retire(supervisor, member);
        if (crew_with(&supervisor->crew, ROLE_STARTING) == NULL)
            plan_start(supervisor, true, what);
    }
    free(what);
}

static void hear(struct supervisor *supervisor, struct member *member)
{
    switch (generation_listen(&member->process)) {
    case GENERATION_READY:
        member_ready(supervisor, member);
        break;
    case GENERATION_FAILED: /* and it is about to exit; the reason is told when it has */
        member->deadline = monotonic_ms() + EXIT_MS;
        break;
    case GENERATION_LEFT:
        if (supervisor->go_by != CREW_NEVER)
            hand_over(supervisor);
        break;
    case GENERATION_FAULTED:
        replace_faulted(supervisor, member);
        break;
    case GENERATION_QUIET:
        break;
    }
}

/* ---- the end of a worker ---- */

/* The one that serves has ended, or the one that should have. */
static void replace(struct supervisor *supervisor, enum role role, bool stable, const char *what)
{
    const bool served = crew_with(&supervisor->crew, ROLE_SERVING) != NULL;
    if (supervisor->phase == PHASE_STARTING) {
        log_error("%s", what);
        give_up(supervisor);
    } else if (role == ROLE_STARTING && served) {
        log_error("reload: %s; the old one goes on", what);
        end_reload(supervisor, "failed", what);
    } else if (crew_with(&supervisor->crew, ROLE_STARTING) != NULL) {
        log_error("%s; another one is about to be ready", what);
    } else {
        end_reload(supervisor, "failed", what);
        plan_start(supervisor, stable, what);
    }
}

static void member_ended(struct supervisor *supervisor, struct member *member, int status)
{
    struct generation *worker = &member->process;
    const pid_t pid = worker->pid;
    worker->pid = 0;          /* by now it may be another process's */
    hear(supervisor, member); /* its last words */
    worker->pid = pid;
    const enum role role = member->role;
    bool stable = worker->ready && monotonic_ms() - worker->ready_since >= STABLE_MS;
    char *what = member_end_text(member, status);
    shm_worker_gone(supervisor->shm, pid);
    member_finish(member);
    if (supervisor->phase == PHASE_STOPPING) {
        if (crew_count(&supervisor->crew) == 0)
            supervisor->phase = PHASE_OVER;
    } else if (role != ROLE_RETIRING) {
        replace(supervisor, role, stable, what);
    } else if (status != 0) {
        log_error("%s; it had been replaced already", what);
    } else {
        log_debug("%s; it had been replaced", what);
    }
    free(what);
    if (role == ROLE_RETIRING && supervisor->go_by != CREW_NEVER)
        hand_over(supervisor);
}

/* As PID 1 we inherit every orphan of the container; they only have to be reaped. */
static void reap(struct supervisor *supervisor)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct member *member = crew_of_pid(&supervisor->crew, pid);
        if (member != NULL)
            member_ended(supervisor, member, status);
        watcher_reap(&supervisor->watcher, pid, status);
    }
}

/* ---- the end ---- */

/* Our copies of the sockets are closed first, so that clients are refused from the moment at which the worker
   closes its own, instead of queueing for nobody. A worker that is not ready has no client to finish with. */
static void stop(struct supervisor *supervisor)
{
    const struct settings *settings = supervisor->settings;
    bool again = supervisor->phase == PHASE_STOPPING;
    supervisor->phase = PHASE_STOPPING;
    supervisor->restart = CREW_NEVER;
    supervisor->stop_by = monotonic_ms() + settings->stop_delay + settings->stop_timeout + STOP_GRACE_MS;
    sockets_close(&supervisor->sockets);
    control_answer_all(&supervisor->control, "reload", "failed: the server stops\n");
    watcher_finish(&supervisor->watcher);
    for (size_t i = 0; i < CREW_MAX; i++) {
        struct member *member = &supervisor->crew.members[i];
        if (member->role == ROLE_NONE || (member->role == ROLE_RETIRING && !again))
            continue;
        if (again || !member->process.ready || generation_stop(&member->process) < 0)
            generation_kill(&member->process);
    }
    if (crew_count(&supervisor->crew) == 0)
        supervisor->phase = PHASE_OVER;
    else if (!again)
        log_info("stopping");
}

static void end_late(struct member *member)
{
    const struct generation *worker = &member->process;
    member->deadline = CREW_NEVER;
    if (member->role == ROLE_STARTING && !worker->failed)
        log_error("worker %d was not ready within START_TIMEOUT (does an init hang?); ending it",
                  (int)worker->pid);
    else if (member->role == ROLE_RETIRING)
        log_warning("worker %d is not done within DRAIN_TIMEOUT; ending it", (int)worker->pid);
    generation_kill(&member->process);
}

/* ---- time ---- */

static int64_t next_deadline(const struct supervisor *supervisor)
{
    int64_t next = supervisor->restart < supervisor->go_by ? supervisor->restart : supervisor->go_by;
    if (supervisor->phase == PHASE_STOPPING && supervisor->stop_by < next)
        next = supervisor->stop_by;
    if (supervisor->phase == PHASE_SERVING && supervisor->watcher.next < next)
        next = supervisor->watcher.next;
    const int64_t first = crew_deadline(&supervisor->crew);
    return first < next ? first : next;
}

static void act_on_time(struct supervisor *supervisor)
{
    const int64_t now = monotonic_ms();
    if (supervisor->phase == PHASE_STOPPING && supervisor->stop_by <= now) {
        log_warning("the worker is not done within the stop timeout; ending it");
        supervisor->stop_by = CREW_NEVER;
        crew_kill(&supervisor->crew);
    }
    for (size_t i = 0; i < CREW_MAX; i++) {
        struct member *member = &supervisor->crew.members[i];
        if (member->role != ROLE_NONE && member->deadline <= now)
            end_late(member);
    }
    if (supervisor->go_by <= now)
        hand_over(supervisor);
    if (supervisor->restart <= now)
        start_serving(supervisor);
    if (supervisor->phase == PHASE_SERVING && supervisor->watcher.next <= now &&
        watcher_look(&supervisor->watcher) && !is_reloading(supervisor))
        reload(supervisor, "functions, certificates or settings have changed");
}

/* ---- commands ---- */

static void said(void *arg, struct control_client *client)
{
    struct supervisor *supervisor = arg;
    if (strcmp(client->word, "reload") == 0 && supervisor->phase == PHASE_SERVING) {
        reload(supervisor, "a command");
    } else if (strcmp(client->word, "status") == 0) {
        char *text = status_text(&supervisor->status, &supervisor->crew);
        control_answer(client, text, true);
        free(text);
    } else if (strcmp(client->word, "stop") == 0) {
        control_answer(client, "ok: stopping\n", false);
        if (supervisor->phase != PHASE_STOPPING)
            stop(supervisor);
    } else {
        control_answer(client, "failed: not now\n", true);
    }
}

static void take_signals(struct supervisor *supervisor)
{
    int number;
    while (supervisor->phase != PHASE_OVER && (number = signals_next(supervisor->signal_fd)) != 0) {
        if (number == SIGCHLD)
            reap(supervisor);
        else if (number == SIGTERM || number == SIGINT)
            stop(supervisor);
        else if (number == SIGHUP)
            reload(supervisor, "HUP");
        else if (number == SIGUSR1)
            crew_reopen_logs(&supervisor->crew);
    }
}

/* ---- the loop ---- */

static int time_left(const struct supervisor *supervisor)
{
    const int64_t next = next_deadline(supervisor);
    if (next == CREW_NEVER)
        return -1;
    int64_t left = next - monotonic_ms();
    return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static void watch(struct supervisor *supervisor)
{
    struct pollfd fds[1 + CREW_MAX + CONTROL_POLLS];
    struct pollfd *const members = fds + 1, *const control = members + CREW_MAX;
    fds[0] = (struct pollfd){.fd = supervisor->signal_fd, .events = POLLIN};
    for (size_t i = 0; i < CREW_MAX; i++) /* poll skips -1 */
        members[i] = (struct pollfd){.fd = supervisor->crew.members[i].process.fd, .events = POLLIN};
    control_polls(&supervisor->control, control);
    if (poll(fds, sizeof fds / sizeof *fds, time_left(supervisor)) < 0)
        return; /* EINTR, of a debugger perhaps */
    for (size_t i = 0; i < CREW_MAX; i++)
        if (members[i].revents != 0)
            hear(supervisor, &supervisor->crew.members[i]);
    if (fds[0].revents != 0)
        take_signals(supervisor);
    control_take(&supervisor->control, control, said, supervisor);
    if (supervisor->phase != PHASE_OVER)
        act_on_time(supervisor);
    try_reload(supervisor); /* that had to wait */
}

/* ---- the start ---- */

/* Without it the server serves all the same. */
static void open_control(struct supervisor *supervisor)
{
    const char *folder = supervisor->settings->state_dir;
    int error = folder ? control_open(&supervisor->control, folder) : 0;
    if (error == -EADDRINUSE)
        log_info("%s is used by another server, which commands go to", folder);
    else if (error < 0)
        log_warning("%s: no commands: %s", folder, strerror(-error));
}

static int prepare(struct supervisor *supervisor)
{
    const struct settings *settings = supervisor->settings;
    char *text;
    descriptors_raise_limit();
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
    error = segment_open(settings, &supervisor->shm);
    if (error == 0)
        open_control(supervisor);
    return error;
}

int supervisor_run(char *const argv[], const struct settings *settings)
{
    struct supervisor supervisor = {
        .settings = settings,
        .argv = argv,
        .signal_fd = -1,
        .control = {.fd = -1},
        .status = {.root = settings->root, .began = monotonic_ms()},
        .restart = CREW_NEVER,
        .go_by = CREW_NEVER,
    };
    crew_init(&supervisor.crew);
    watcher_init(&supervisor.watcher, settings, argv);
    if (prepare(&supervisor) == 0)
        start_serving(&supervisor);
    else
        give_up(&supervisor);
    while (supervisor.phase != PHASE_OVER)
        watch(&supervisor);
    sockets_close(&supervisor.sockets);
    shm_close(supervisor.shm);
    control_close(&supervisor.control);
    if (supervisor.signal_fd >= 0)
        close(supervisor.signal_fd);
    return supervisor.exit_status;
}
