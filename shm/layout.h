/* What lies where in the segment; internal to this room. Positions are offsets from its start, 0 is none. A
   change here, or of what the parts keep in their regions, is a new SHM_LAYOUT.

   Any process may be killed between any two instructions. So each part keeps one truth that changes by single
   stores and is whole after each of them (the words of heap blocks, the chains of keys, the hash of a counter
   or lock), and everything else (free lists, counts) is derived and made anew from it when a lock's holder
   has died.

   From the bottom up: mutex, layout; counters, locks, heap; table; keys; segment, worker. */
#ifndef SHM_LAYOUT_H
#define SHM_LAYOUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHM_MAGIC UINT64_C(0x65746167646c6321)
#define SHM_LAYOUT 2
#define SHM_PAGE 4096
#define SHM_LINE 64
#define SHM_WORKERS 8 /* slot 0 is everybody who did not join */

struct shm_region {
    uint64_t offset;
    uint64_t count; /* of what lies there: counters, shards, ...; bytes for the heap */
};

/* A function of the segment's size alone, so that a damaged header is noticed. */
struct shm_plan {
    struct shm_region counters;
    struct shm_region lock_shards;
    struct shm_region locks;
    struct shm_region shards;
    struct shm_region buckets;
    struct shm_region heap;
};

struct shm_segment {
    _Atomic uint64_t magic; /* stored last when a segment is made */
    uint32_t layout;
    uint32_t header_size;
    uint64_t size;
    struct shm_plan plan;
    uint8_t hash_key[16];
    char boot_id[40];
    int64_t clock_shift; /* the segment's clock is CLOCK_BOOTTIME plus this, ms */
    int64_t clock_epoch; /* and CLOCK_REALTIME minus this */
    _Alignas(SHM_LINE) _Atomic int32_t workers[SHM_WORKERS]; /* pids, 0 is free */
    _Alignas(SHM_LINE) pthread_mutex_t counters_mutex;
    uint64_t counters_used; /* derived, as all that is counted */
};

struct shm {
    int fd;
    pid_t pid; /* of the process that joined or attached */
    int slot;
    size_t size;
    struct shm_segment *segment;
};

static inline void *shm_at(const struct shm *shm, uint64_t offset)
{
    return (char *)shm->segment + offset;
}

/* Now by the clock of the segment, in ms. */
int64_t shm_now(const struct shm *shm);

/* Starts that clock, or lets one of an earlier run go on as if it had never stopped. */
void shm_clock_init(struct shm_segment *segment, bool restarted);

/* A keyed hash, so that clients who choose names cannot choose collisions; never 0. */
uint64_t shm_hash(const struct shm *shm, const void *data, size_t len);

/* Length of a name of 1 to max bytes; -EINVAL or -E2BIG. */
int shm_name_length(const char *name, size_t max);

#endif
