#include "app/static_watch.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS (IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define SETTLE_MS 30    /* without a further change before a look is worth it... */
#define SETTLE_ROUNDS 5 /* ...and how often that is waited for */
#define IMPROVE_MS 1000 /* of compressing before what is there is published */
#define SWEEP_MS 1000   /* until tables are tried to be given back again */
#define REST 20         /* times as long as a look takes there is none, unless something has changed */
#define REST_MAX_MS 1000
#define NICENESS 10

struct static_watch {
    struct static_options options;
    struct static_listener listener;
    int64_t interval, next_look;
    int64_t rest;      /* ms between looks for which nothing but a file in the making is a reason */
    int changes, wake; /* inotify (-1: there is none) and eventfd */
    atomic_bool stopping;
    pthread_t thread;
    bool running;
    struct static_table *table;
    struct static_table **old; /* that may have users still */
    size_t old_count;
    char *told; /* warnings and errors, so that each is told once */
};

/* ---- changes ---- */

static void enter(void *arg, const char *dir)
{
    const struct static_watch *watch = arg;
    if (watch->changes >= 0)
        (void)inotify_add_watch(watch->changes, dir, EVENTS); /* without it there is still the next look */
}

/* false: nothing has happened in that time. */
static bool wait_for(struct static_watch *watch, int64_t ms)
{
    struct pollfd fds[2] = {{.fd = watch->wake, .events = POLLIN}, {.fd = watch->changes, .events = POLLIN}};
    return poll(fds, 2, ms < INT32_MAX ? (int)ms : INT32_MAX) > 0;
}

/* What has changed in detail does not matter. */
static bool take_changes(const struct static_watch *watch)
{
    char events[4096];
    bool any = false;
    while (watch->changes >= 0 && read(watch->changes, events, sizeof events) > 0)
        any = true;
    return any;
}

static bool is_stopping(const struct static_watch *watch)
{
    return atomic_load_explicit(&watch->stopping, memory_order_relaxed);
}

static void settle(struct static_watch *watch)
{
    for (int i = 0; i < SETTLE_ROUNDS && !is_stopping(watch); i++) {
        if (!wait_for(watch, SETTLE_MS))
            return;
        (void)take_changes(watch);
    }
}

/* ---- tables ---- */

/* Those that nobody uses any more. */
static void sweep(struct static_watch *watch)
{
    size_t kept = 0;
    for (size_t i = 0; i < watch->old_count; i++) {
        if (static_table_held(watch->old[i]))
            watch->old[kept++] = watch->old[i];
        else
            static_table_destroy(watch->old[i]);
    }
    watch->old_count = kept;
}

static void tell(struct static_watch *watch, const char *text)
{
    if (strcmp(text, watch->told) == 0)
        return;
    free(watch->told);
    watch->told = xstrdup(text);
    if (text[0] != '\0')
        watch->listener.tell(watch->listener.arg, text);
}

static void publish(struct static_watch *watch, struct static_table *table)
{
    watch->old = xrealloc(watch->old, (watch->old_count + 1) * sizeof *watch->old);
    watch->old[watch->old_count++] = watch->table;
    watch->table = table;
    tell(watch, static_table_warnings(table));
    watch->listener.publish(watch->listener.arg, table);
}

/* Files that are being written to are waited for, but not for ever. */
static void look(struct static_watch *watch)
{
    struct static_table *table = NULL;
    char *error = NULL;
    int result = 0;
    for (int i = 0; i <= SETTLE_ROUNDS; i++) {
        int64_t begun = monotonic_ms();
        result = static_table_load(&watch->options, watch->table, &table, &error);
        watch->rest = REST * (monotonic_ms() - begun);
        if (result != 0 || !static_table_unsettled(table) || i == SETTLE_ROUNDS ||
            watch->rest > REST_MAX_MS || is_stopping(watch))
            break;
        static_table_destroy(table);
        settle(watch);
    }
    watch->next_look = monotonic_ms() + (watch->rest > watch->interval ? watch->rest : watch->interval);
    if (result == 0) {
        publish(watch, table);
    } else if (result != -EALREADY) {
        char *line = xsprintf("%s; files stay as they were\n", error);
        tell(watch, line);
        free(line);
        free(error);
    }
}

static int64_t patience(const struct static_watch *watch)
{
    int64_t left = watch->next_look - monotonic_ms(), soon = SETTLE_MS + watch->rest;
    if (static_table_unsettled(watch->table) && left > soon)
        left = soon;
    if (watch->old_count > 0 && left > SWEEP_MS)
        left = SWEEP_MS;
    return left > 0 ? left : 0;
}

static bool improve(struct static_watch *watch)
{
    struct static_table *table =
        static_table_improve(&watch->options, watch->table, monotonic_ms() + IMPROVE_MS, &watch->stopping);
    if (table != NULL)
        publish(watch, table);
    return table != NULL;
}

static void *run(void *arg)
{
    struct static_watch *watch = arg;
    pthread_setname_np(pthread_self(), "files");
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS); /* of this thread alone */
    bool more = true;
    while (!is_stopping(watch)) {
        bool woken = wait_for(watch, more ? 0 : patience(watch)), changed = take_changes(watch);
        if (changed)
            settle(watch);
        if (changed || monotonic_ms() >= watch->next_look ||
            (!woken && !more && static_table_unsettled(watch->table)))
            look(watch);
        more = !is_stopping(watch) && improve(watch);
        sweep(watch);
    }
    return NULL;
}

/* ---- */

int static_watch_create(const struct static_options *options, int64_t interval_ms,
                        struct static_watch **ret_watch, char **ret_error)
{
    struct static_watch *watch = xzalloc(sizeof *watch);
    watch->options = *options;
    watch->options.enter = enter;
    watch->options.arg = watch;
    watch->interval = interval_ms;
    watch->changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    watch->told = xstrdup("");
    int error = watch->wake < 0 ? -errno : 0;
    if (error < 0)
        *ret_error = xsprintf("eventfd: %s", strerror(-error));
    else
        error = static_table_load(&watch->options, NULL, &watch->table, ret_error);
    if (error < 0) {
        static_watch_destroy(watch);
        return error;
    }
    *ret_watch = watch;
    return 0;
}

struct static_table *static_watch_table(const struct static_watch *watch)
{
    return watch->table;
}

int static_watch_start(struct static_watch *watch, const struct static_listener *listener)
{
    watch->listener = *listener;
    watch->next_look = monotonic_ms() + watch->interval;
    tell(watch, static_table_warnings(watch->table));
    int error = pthread_create(&watch->thread, NULL, run, watch);
    watch->running = error == 0;
    return -error;
}

void static_watch_stop(struct static_watch *watch)
{
    if (watch == NULL || !watch->running)
        return;
    atomic_store(&watch->stopping, true);
    if (write(watch->wake, &(uint64_t){1}, sizeof(uint64_t)) < 0)
        abort(); /* an eventfd takes one */
    pthread_join(watch->thread, NULL);
    watch->running = false;
}

void static_watch_destroy(struct static_watch *watch)
{
    if (watch == NULL)
        return;
    static_watch_stop(watch);
    for (size_t i = 0; i < watch->old_count; i++)
        static_table_destroy(watch->old[i]);
    static_table_destroy(watch->table);
    free(watch->old);
    free(watch->told);
    if (watch->changes >= 0)
        close(watch->changes);
    if (watch->wake >= 0)
        close(watch->wake);
    free(watch);
}
