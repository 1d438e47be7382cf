/* Named 64-bit numbers in the segment. They are never removed; the table is fixed and does not share memory
   with keys. */
#ifndef SHM_COUNTERS_H
#define SHM_COUNTERS_H

#include "shm/limits.h"

#include <stddef.h>
#include <stdint.h>

struct shm;

/* A counter or a gauge; lives in the segment, valid until shm_close. */
struct shm_counter;

/* Finds the counter (the gauge) of that name or makes it with value 0. Everybody who opens a name gets the
   same one. -EINVAL: empty name. -E2BIG: longer than SHM_COUNTER_NAME_MAX. -EEXIST: the name is one of the
   other kind. -ENOSPC: the table is full. */
int shm_counter_open(struct shm *shm, const char *name, struct shm_counter **ret_counter);
int shm_gauge_open(struct shm *shm, const char *name, struct shm_counter **ret_gauge);

/* Adds and returns the new value, wrapping around. On a counter each result of adding 1 is unique. On a gauge
   the amount belongs to the calling worker, and the result is the sum over all workers. */
int64_t shm_counter_add(struct shm *shm, struct shm_counter *counter, int64_t amount);

int64_t shm_counter_get(const struct shm_counter *counter);

/* For the rest of this room: lays out the zeroed region; makes it usable again when the last run is over;
   takes the shares of a slot out of all gauges. */
void shm_counters_init(struct shm *shm);
void shm_counters_restart(struct shm *shm);
void shm_counters_worker_gone(struct shm *shm, int slot);
void shm_counters_stats(struct shm *shm, uint64_t *ret_used, uint64_t *ret_max);
size_t shm_counter_size(void);

#endif
