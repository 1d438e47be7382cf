/* Sees when a reload is due because files have changed, and builds sources first where WATCH asks for it. */
#ifndef PROCESS_WATCHER_H
#define PROCESS_WATCHER_H

#include "process/builder.h"
#include "process/changes.h"

struct watcher {
    const struct settings *settings;
    char *const *argv; /* as main had it */
    int64_t next;      /* look; monotonic ms; INT64_MAX: nothing is watched */
    struct changes loaded;
    uint64_t sources; /* fingerprint */
    struct builder builder;
    bool built; /* since the last look: what is there is whole */
};

void watcher_init(struct watcher *watcher, const struct settings *settings, char *const argv[]);
/* A worker is about to be started, from what is there now. */
void watcher_take(struct watcher *watcher);
/* When next has come. True: a reload is due. */
bool watcher_look(struct watcher *watcher);
/* A child has ended, maybe the compiler. */
void watcher_reap(struct watcher *watcher, pid_t pid, int status);
void watcher_finish(struct watcher *watcher);

#endif
