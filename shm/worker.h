/* The processes that use the segment, each with a slot of its own. */
#ifndef SHM_WORKER_H
#define SHM_WORKER_H

#include <sys/types.h>

struct shm;

/* Takes a worker slot for the calling process, which owns this process's shares of gauges. -EUSERS: none is
   free. */
int shm_worker_join(struct shm *shm);

/* To be called by the parent when it has reaped pid, however that ended: takes its shares out of the gauges,
   releases its named locks, returns memory that it was about to use, frees its slot. Harmless for a process
   that never joined. It waits for mutexes of the segment, which any other worker holds for a moment at a
   time: a worker that is stopped (SIGSTOP, a debugger) within such a moment blocks it until that worker goes
   on or dies. */
void shm_worker_gone(struct shm *shm, pid_t pid);

#endif
