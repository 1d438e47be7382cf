/* What functions reach without an event: set once, before the first module is started. */
#ifndef APP_CONTEXT_H
#define APP_CONTEXT_H

#include "app/seal.h"
#include "config/settings.h"

#include <sys/types.h>

struct loop;
struct module;
struct shm;
struct topics;

struct context {
    const struct settings *settings;
    struct shm *shm;
    struct topics *topics;
    struct loop *const *_Atomic loops; /* settings->threads of them, as long as they are there; else NULL */
    void (*faulted)(const struct module *module); /* one of its functions has crashed */
    struct seal_key seal;
    mode_t file_mode; /* of files that functions keep: 0666 less the umask */
    uint64_t id_seed; /* random: makes the ids of requests unlike those of other workers */
};

extern struct context context;

#endif
