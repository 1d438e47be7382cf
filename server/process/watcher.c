#include "process/watcher.h"

#include "base/clock.h"

static uint64_t loaded_files(const struct watcher *watcher)
{
    return changes_fingerprint(watcher->settings,
                               CHANGES_OF_MODULES | (watcher->settings->watch ? CHANGES_OF_CONFIG : 0));
}

void watcher_init(struct watcher *watcher, const struct settings *settings, char *const argv[])
{
    const bool watches = settings->auto_reload || settings->watch;
    *watcher = (struct watcher){.settings = settings, .argv = argv, .next = watches ? 0 : INT64_MAX};
    if (settings->watch)
        watcher->sources = changes_fingerprint(settings, CHANGES_OF_SOURCES);
}

void watcher_take(struct watcher *watcher)
{
    if (watcher->next != INT64_MAX)
        changes_take(&watcher->loaded, loaded_files(watcher), monotonic_ms());
}

/* True: the compiler runs, and there is no point in looking at what it makes before it has ended. */
static bool build(struct watcher *watcher)
{
    if (builder_runs(&watcher->builder))
        return true;
    if (!watcher->settings->watch)
        return false;
    const uint64_t sources = changes_fingerprint(watcher->settings, CHANGES_OF_SOURCES);
    if (sources == watcher->sources)
        return false;
    watcher->sources = sources;
    return builder_start(&watcher->builder, watcher->argv) == 0;
}

bool watcher_look(struct watcher *watcher)
{
    const int64_t now = monotonic_ms();
    watcher->next = now + (watcher->settings->watch ? CHANGES_WATCH_MS : CHANGES_LOOK_MS);
    if (build(watcher))
        return false;
    const uint64_t files = loaded_files(watcher);
    const bool settled = changes_see(&watcher->loaded, files, now) || watcher->built;
    watcher->built = false;
    return settled && files != watcher->loaded.taken;
}

void watcher_reap(struct watcher *watcher, pid_t pid, int status)
{
    if (!builder_ended(&watcher->builder, pid, status))
        return;
    watcher->built = true;
    watcher->next = 0;
}

void watcher_finish(struct watcher *watcher)
{
    watcher->next = INT64_MAX;
    builder_end(&watcher->builder);
}
