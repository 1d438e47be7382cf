/* Locks with names, for functions that must not run twice at once, in whatever thread or worker. Who waits is
   not served in order. A lock whose holder's process died is free again. */
#ifndef SHM_LOCKS_H
#define SHM_LOCKS_H

#include "shm/limits.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shm;

/* Takes a lock for owner, a number the caller chooses (an event's id), unique within its process. Waits up to
   wait_ms; 0 only tries. -ETIMEDOUT: somebody else holds it. -EDEADLK: owner does already. -ENOSPC: too many
   locks are held. -EINVAL: empty name or negative time. -E2BIG: name too long. */
int shm_lock(struct shm *shm, const char *name, uint64_t owner, int64_t wait_ms);

/* -ENOENT: nobody holds it. -EPERM: somebody else does. */
int shm_unlock(struct shm *shm, const char *name, uint64_t owner);

/* Releases all that owner holds. Looks at every held lock: call it only for an owner that took one. */
void shm_unlock_all(struct shm *shm, uint64_t owner);

/* For the rest of this room: lays out the region, which forgets what was held; releases all that a process
   held. */
void shm_locks_init(struct shm *shm);
void shm_locks_worker_gone(struct shm *shm, pid_t pid);
uint64_t shm_locks_held(struct shm *shm);
size_t shm_lock_size(void);
size_t shm_lock_shard_size(void);

#endif
