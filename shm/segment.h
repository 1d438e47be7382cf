/* The shared-memory segment. The supervisor creates it, every worker attaches to the inherited descriptor;
   what is in it survives reloads and crashes, and with a path also restarts. All processes must use one
   struct shm each: after a plain fork() call shm_worker_join() before anything else.

   Functions that the whole room offers may be called from any thread. They read the caller's memory before
   they take a lock and write to it after they have released it, so a bad pointer faults with no lock held.
   Only what is named async-signal-safe may be called from a signal handler. A segment damaged beyond repair
   by a stray write answers -ENOTRECOVERABLE from then on. */
#ifndef SHM_SEGMENT_H
#define SHM_SEGMENT_H

#include "shm/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shm;

struct shm_stats {
    uint64_t size;         /* bytes, the whole segment */
    uint64_t store_size;   /* bytes that keys and values may use, their headers included */
    uint64_t store_used;   /* bytes they use now */
    uint64_t keys;         /* expired ones that were not reclaimed yet included */
    uint64_t counters;     /* counters and gauges */
    uint64_t counters_max; /* more than that are refused */
    uint64_t locks;        /* named locks held */
    uint64_t locks_max;    /* or fewer, when their names fall unevenly */
    uint64_t value_max;    /* longest value of a key, bytes */
};

/* Makes a segment of size bytes (rounded up to pages) and reserves all of it, so that it can never fault
   later. Without a path it is anonymous (memfd); with one it is that file, made with mode 0600 or, when an
   earlier run left it, used on with all it holds but gauges and locks. Deadlines go on over a reboot by the
   wall clock. -ENOSPC, -EFBIG, -ENOMEM: cannot be reserved. -EINVAL: size out of bounds or not a regular
   file. -EBUSY: another server uses the file. -EPROTO: not a segment. -EPROTONOSUPPORT: of another layout.
   -EMSGSIZE: of another size. -EUCLEAN: damaged. */
int shm_create(const char *path, size_t size, struct shm **ret_shm);

/* Maps the segment behind fd. Takes fd over when it succeeds. Errors as above. */
int shm_attach(int fd, struct shm **ret_shm);

/* Unmaps, closes the descriptor and frees the handle; an anonymous segment goes when the last one has closed
   it. */
void shm_close(struct shm *shm);

/* The descriptor to inherit. It is close-on-exec: clear that (or dup2) in the child. */
int shm_fd(const struct shm *shm);

/* What an error of shm_create or shm_attach means, in words for the operator. Static text. */
const char *shm_explain(int error);

/* True from before the calling thread takes a mutex inside the segment until after it has released it: a
   fault then must end the process. While it is false a call may be left by a jump out of a fault; at most the
   memory that it was about to use stays taken until shm_worker_gone. Async-signal-safe. */
bool shm_holds_lock(void);

/* Takes a snapshot; its parts may be of slightly different moments. What a dead process has left uncounted is
   counted first; a part that is damaged beyond repair counts as 0. */
void shm_stats(struct shm *shm, struct shm_stats *ret_stats);

#endif
