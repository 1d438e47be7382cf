#include "app/watchdog.h"

#include "app/action.h"
#include "app/fault.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct watchdog {
    pthread_t thread;
    atomic_bool over;
};

/* Somebody who steps through a function does not want it cut off. */
static bool is_debugged(void)
{
    char line[128];
    long tracer = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "TracerPid: %ld", &tracer) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return tracer != 0;
}

static void tell(const struct action *action, int64_t ms)
{
    log_warning("%s: keeps its event loop from everybody else, for %lld ms by now; with `mode: blocking` in "
                "its route, or .flags = CG_BLOCKING, it may wait",
                action->module->file, (long long)ms);
}

static void cut_off(struct fault_guard *guard, const struct action *action)
{
    if (is_debugged())
        return;
    if (guard->cuts == WATCHDOG_PATIENCE) {
        log_error("%s: did not return within %lld ms and can't be left; ending this worker",
                  action->module->file, (long long)action->loop_timeout);
        _exit(1);
    }
    guard->cuts++;
    fault_cut(guard);
}

static void look_at(struct fault_guard *guard, void *arg)
{
    const int64_t now = *(const int64_t *)arg;
    const unsigned calls = atomic_load_explicit(&guard->calls, memory_order_acquire);
    const struct action *action = atomic_load_explicit(&guard->action, memory_order_relaxed);
    if (!guard->is_loop || action == NULL)
        return;
    if (calls % 2 == 0 || calls != guard->seen) {
        guard->seen = calls;
        guard->since = now;
        guard->told = guard->cuts = 0;
        return;
    }
    const int64_t ms = now - guard->since;
    if (ms >= WATCHDOG_TELL_MS && guard->told++ == 0)
        tell(action, ms);
    if (ms >= action->loop_timeout)
        cut_off(guard, action);
}

static void *watch(void *arg)
{
    struct watchdog *watchdog = arg;
    const struct timespec pause = {0, WATCHDOG_LOOK_MS * 1000000L};
    pthread_setname_np(pthread_self(), "watchdog");
    while (!atomic_load(&watchdog->over)) {
        int64_t now = monotonic_ms();
        fault_visit(look_at, &now);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

struct watchdog *watchdog_start(void)
{
    struct watchdog *watchdog = xzalloc(sizeof *watchdog);
    if (pthread_create(&watchdog->thread, NULL, watch, watchdog) == 0)
        return watchdog;
    free(watchdog);
    return NULL;
}

void watchdog_stop(struct watchdog *watchdog)
{
    if (watchdog == NULL)
        return;
    atomic_store(&watchdog->over, true);
    pthread_join(watchdog->thread, NULL);
    free(watchdog);
}
