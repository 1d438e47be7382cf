#include "shm/counters.h"

#include "shm/layout.h"
#include "shm/mutex.h"

#include <errno.h>
#include <string.h>

enum kind { COUNTER = 1, GAUGE = 2 };

/* The numbers have a cache line for themselves: a counter uses the first, a gauge one per worker slot. */
struct shm_counter {
    _Alignas(SHM_LINE) _Atomic int64_t share[SHM_WORKERS];
    _Alignas(SHM_LINE) _Atomic uint64_t hash; /* 0 is nobody; stored last */
    uint32_t kind;
    char name[SHM_COUNTER_NAME_MAX + 1];
};

_Static_assert(sizeof(_Atomic int64_t) * SHM_WORKERS == SHM_LINE, "a gauge is one cache line");

size_t shm_counter_size(void)
{
    return sizeof(struct shm_counter);
}

static struct shm_counter *counter_at(const struct shm *shm, uint64_t index)
{
    return (struct shm_counter *)shm_at(shm, shm->segment->plan.counters.offset) + index;
}

static uint64_t hash_of(const struct shm_counter *counter)
{
    return atomic_load_explicit(&counter->hash, memory_order_acquire);
}

void shm_counters_init(struct shm *shm)
{
    shm_mutex_init(&shm->segment->counters_mutex);
}

/* Counts again, as a holder may have died between publishing a counter and counting it. */
static int recount(void *data)
{
    struct shm *shm = data;
    uint64_t used = 0;
    for (uint64_t i = 0; i < shm->segment->plan.counters.count; i++)
        used += hash_of(counter_at(shm, i)) != 0;
    shm->segment->counters_used = used;
    return 0;
}

static int lock(struct shm *shm)
{
    return shm_mutex_lock(&shm->segment->counters_mutex, recount, shm);
}

static void unlock(struct shm *shm)
{
    shm_mutex_unlock(&shm->segment->counters_mutex);
}

void shm_counters_restart(struct shm *shm)
{
    shm_mutex_init(&shm->segment->counters_mutex);
    recount(shm);
    for (int slot = 0; slot < SHM_WORKERS; slot++)
        shm_counters_worker_gone(shm, slot);
}

/* The place where a name is (its hash is set) or would be made. The table is never full, so the search
   ends. */
static struct shm_counter *find(const struct shm *shm, uint64_t hash, const char *name, size_t len)
{
    uint64_t count = shm->segment->plan.counters.count;
    for (uint64_t i = 0; i < count; i++) {
        struct shm_counter *counter = counter_at(shm, (hash + i) & (count - 1));
        uint64_t there = hash_of(counter);
        if (there == 0 || (there == hash && memcmp(counter->name, name, len + 1) == 0))
            return counter;
    }
    return NULL;
}

static uint64_t counters_max(const struct shm *shm)
{
    return shm->segment->plan.counters.count / 8 * 7;
}

/* Makes what find did not find; the lock is held. */
static int make(struct shm *shm, struct shm_counter *counter, uint64_t hash, const char *name, size_t len,
                enum kind kind)
{
    if (counter == NULL || shm->segment->counters_used >= counters_max(shm))
        return -ENOSPC;
    memcpy(counter->name, name, len + 1);
    counter->kind = kind;
    atomic_store_explicit(&counter->hash, hash, memory_order_release);
    shm->segment->counters_used++;
    return 0;
}

static int open_kind(struct shm *shm, const char *caller_name, enum kind kind,
                     struct shm_counter **ret_counter)
{
    char name[SHM_COUNTER_NAME_MAX + 1];
    int len = shm_name_length(caller_name, SHM_COUNTER_NAME_MAX);
    if (len < 0)
        return len;
    memcpy(name, caller_name, (size_t)len);
    name[len] = '\0';
    uint64_t hash = shm_hash(shm, name, (size_t)len);
    struct shm_counter *counter = find(shm, hash, name, (size_t)len);
    if (counter == NULL || hash_of(counter) != hash) {
        int error = lock(shm);
        if (error != 0)
            return error;
        counter = find(shm, hash, name, (size_t)len);
        if (counter == NULL || hash_of(counter) == 0)
            error = make(shm, counter, hash, name, (size_t)len, kind);
        unlock(shm);
        if (error != 0)
            return error;
    }
    if (counter->kind != (uint32_t)kind)
        return -EEXIST;
    *ret_counter = counter;
    return 0;
}

int shm_counter_open(struct shm *shm, const char *name, struct shm_counter **ret_counter)
{
    return open_kind(shm, name, COUNTER, ret_counter);
}

int shm_gauge_open(struct shm *shm, const char *name, struct shm_counter **ret_gauge)
{
    return open_kind(shm, name, GAUGE, ret_gauge);
}

static int share_index(const struct shm *shm, const struct shm_counter *counter)
{
    return counter->kind == GAUGE ? shm->slot : 0;
}

int64_t shm_counter_add(struct shm *shm, struct shm_counter *counter, int64_t amount)
{
    int mine = share_index(shm, counter);
    uint64_t sum = (uint64_t)atomic_fetch_add_explicit(&counter->share[mine], amount, memory_order_relaxed);
    sum += (uint64_t)amount;
    if (counter->kind == GAUGE) {
        for (int i = 0; i < SHM_WORKERS; i++)
            sum += i == mine ? 0 : (uint64_t)atomic_load_explicit(&counter->share[i], memory_order_relaxed);
    }
    return (int64_t)sum;
}

int64_t shm_counter_get(const struct shm_counter *counter)
{
    uint64_t sum = 0;
    for (int i = 0; i < SHM_WORKERS; i++)
        sum += (uint64_t)atomic_load_explicit(&counter->share[i], memory_order_relaxed);
    return (int64_t)sum;
}

void shm_counters_worker_gone(struct shm *shm, int slot)
{
    for (uint64_t i = 0; i < shm->segment->plan.counters.count; i++) {
        struct shm_counter *counter = counter_at(shm, i);
        if (hash_of(counter) != 0 && counter->kind == GAUGE)
            atomic_store_explicit(&counter->share[slot], 0, memory_order_relaxed);
    }
}

void shm_counters_stats(struct shm *shm, uint64_t *ret_used, uint64_t *ret_max)
{
    *ret_used = 0;
    *ret_max = counters_max(shm);
    if (lock(shm) == 0) {
        *ret_used = shm->segment->counters_used;
        unlock(shm);
    }
}
