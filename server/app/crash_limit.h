/* A function that crashes again and again is switched off, so that it does not take worker after worker
   along. It is counted in shared memory, and comes back with another build of its module. */
#ifndef APP_CRASH_LIMIT_H
#define APP_CRASH_LIMIT_H

#include "app/modules.h"

#define CRASH_LIMIT_MS 60000 /* in which so many crashes count */

struct shm;

/* One more crash. limit: with how many it is off; 0: never. */
void crash_limit_note(struct shm *shm, const struct module *module, uint64_t limit);
/* Makes an error of each module that is switched off in this very build. How many there are. */
size_t crash_limit_apply(struct shm *shm, struct modules *modules);

#endif
