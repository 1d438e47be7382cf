#include "shm/locks.h"

#include "base/clock.h"
#include "shm/layout.h"
#include "shm/mutex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A waiter looks again after this long, in case the holder's process died and nobody told us. */
#define LOOK_AGAIN_MS 1000

/* Only held locks are in the table. */
struct lock {
    uint64_t hash; /* 0 is free; stored last when the lock is taken, first when it is released */
    uint64_t owner;
    int32_t pid;
    uint32_t waited_for;
    _Atomic uint32_t turn; /* waiters sleep on it; each release changes it */
    uint32_t reserved;
    char name[SHM_LOCK_NAME_MAX + 1];
};

struct lock_shard {
    _Alignas(SHM_LINE) pthread_mutex_t mutex;
    uint64_t reach; /* all locks held are before this one; derived */
};

/* What a caller asks for, its name copied so that nobody changes it under us. */
struct lock_request {
    uint64_t hash;
    uint64_t owner;
    char name[SHM_LOCK_NAME_MAX + 1];
};

struct guard {
    struct shm *shm;
    struct lock_shard *shard;
    struct lock *locks;
    uint64_t count;
};

size_t shm_lock_size(void)
{
    return sizeof(struct lock);
}

size_t shm_lock_shard_size(void)
{
    return sizeof(struct lock_shard);
}

static struct guard guard_of(struct shm *shm, uint64_t index)
{
    const struct shm_plan *plan = &shm->segment->plan;
    uint64_t count = plan->locks.count / plan->lock_shards.count;
    return (struct guard){
        .shm = shm,
        .shard = (struct lock_shard *)shm_at(shm, plan->lock_shards.offset) + index,
        .locks = (struct lock *)shm_at(shm, plan->locks.offset) + index * count,
        .count = count,
    };
}

static uint64_t shard_count(const struct shm *shm)
{
    return shm->segment->plan.lock_shards.count;
}

void shm_locks_init(struct shm *shm)
{
    for (uint64_t i = 0; i < shard_count(shm); i++) {
        struct guard guard = guard_of(shm, i);
        memset(guard.locks, 0, guard.count * sizeof *guard.locks);
        guard.shard->reach = 0;
        shm_mutex_init(&guard.shard->mutex);
    }
}

static int find_reach(void *data)
{
    struct guard *guard = data;
    guard->shard->reach = guard->count;
    while (guard->shard->reach > 0 && guard->locks[guard->shard->reach - 1].hash == 0)
        guard->shard->reach--;
    return 0;
}

static int guard_lock(struct guard *guard)
{
    return shm_mutex_lock(&guard->shard->mutex, find_reach, guard);
}

static void guard_unlock(struct guard *guard)
{
    shm_mutex_unlock(&guard->shard->mutex);
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *until)
{
    return syscall(SYS_futex, word, operation, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void hash_store(struct lock *lock, uint64_t hash)
{
    __atomic_store_n(&lock->hash, hash, __ATOMIC_RELEASE);
}

static void release(struct guard *guard, struct lock *lock)
{
    hash_store(lock, 0);
    atomic_fetch_add(&lock->turn, 1);
    if (lock->waited_for) {
        lock->waited_for = 0;
        futex(&lock->turn, FUTEX_WAKE, INT_MAX, NULL);
    }
    while (guard->shard->reach > 0 && guard->locks[guard->shard->reach - 1].hash == 0)
        guard->shard->reach--;
}

static struct lock *find(struct guard *guard, const struct lock_request *request)
{
    for (uint64_t i = 0; i < guard->shard->reach; i++) {
        struct lock *lock = &guard->locks[i];
        if (lock->hash == request->hash && strcmp(lock->name, request->name) == 0)
            return lock;
    }
    return NULL;
}

static int take(struct guard *guard, const struct lock_request *request)
{
    uint64_t i = 0;
    while (i < guard->count && guard->locks[i].hash != 0)
        i++;
    if (i == guard->count)
        return -ENOSPC;
    struct lock *lock = &guard->locks[i];
    memcpy(lock->name, request->name, sizeof lock->name);
    lock->owner = request->owner;
    lock->pid = guard->shm->pid;
    lock->waited_for = 0;
    hash_store(lock, request->hash);
    if (guard->shard->reach <= i)
        guard->shard->reach = i + 1;
    return 0;
}

static int lock_request_init(struct shm *shm, struct lock_request *request, const char *name, uint64_t owner)
{
    int len = shm_name_length(name, SHM_LOCK_NAME_MAX);
    if (len < 0)
        return len;
    memset(request->name, 0, sizeof request->name);
    memcpy(request->name, name, (size_t)len);
    request->owner = owner;
    request->hash = shm_hash(shm, request->name, (size_t)len);
    return 0;
}

static bool is_mine(const struct guard *guard, const struct lock *lock, uint64_t owner)
{
    return lock->owner == owner && lock->pid == guard->shm->pid;
}

static bool is_dead(const struct lock *lock)
{
    return kill(lock->pid, 0) < 0 && errno == ESRCH;
}

static void sleep_on(_Atomic uint32_t *turn, uint32_t seen, int64_t until_ms)
{
    struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    futex(turn, FUTEX_WAIT_BITSET, seen, &until);
}

/* 0: taken. -EAGAIN: held by somebody else; then ret_turn and ret_seen say what to wait for. */
static int try_lock(struct guard *guard, const struct lock_request *request, bool waits,
                    _Atomic uint32_t **ret_turn, uint32_t *ret_seen)
{
    int error = guard_lock(guard);
    if (error != 0)
        return error;
    struct lock *lock = find(guard, request);
    if (lock != NULL && is_mine(guard, lock, request->owner)) {
        error = -EDEADLK;
    } else if (lock != NULL && !is_dead(lock)) {
        lock->waited_for |= waits;
        *ret_turn = &lock->turn;
        *ret_seen = atomic_load(&lock->turn);
        error = -EAGAIN;
    } else {
        if (lock != NULL)
            release(guard, lock);
        error = take(guard, request);
    }
    guard_unlock(guard);
    return error;
}

int shm_lock(struct shm *shm, const char *name, uint64_t owner, int64_t wait_ms)
{
    struct lock_request request;
    int error = lock_request_init(shm, &request, name, owner);
    if (error < 0 || wait_ms < 0)
        return error != 0 ? error : -EINVAL;
    struct guard guard = guard_of(shm, request.hash % shard_count(shm));
    int64_t now = monotonic_ms();
    int64_t deadline = wait_ms > INT64_MAX - now ? INT64_MAX : now + wait_ms;
    for (;; now = monotonic_ms()) {
        _Atomic uint32_t *turn = NULL;
        uint32_t seen = 0;
        error = try_lock(&guard, &request, now < deadline, &turn, &seen);
        if (error != -EAGAIN)
            return error;
        if (now >= deadline)
            return -ETIMEDOUT;
        sleep_on(turn, seen, deadline - now > LOOK_AGAIN_MS ? now + LOOK_AGAIN_MS : deadline);
    }
}

int shm_unlock(struct shm *shm, const char *name, uint64_t owner)
{
    struct lock_request request;
    int error = lock_request_init(shm, &request, name, owner);
    if (error != 0)
        return error;
    struct guard guard = guard_of(shm, request.hash % shard_count(shm));
    error = guard_lock(&guard);
    if (error != 0)
        return error;
    struct lock *lock = find(&guard, &request);
    if (lock == NULL)
        error = -ENOENT;
    else if (!is_mine(&guard, lock, owner))
        error = -EPERM;
    else
        release(&guard, lock);
    guard_unlock(&guard);
    return error;
}

/* Releases what a process holds, for one of its owners or for all (owner is NULL). */
static void release_all(struct shm *shm, pid_t pid, const uint64_t *owner)
{
    for (uint64_t i = 0; i < shard_count(shm); i++) {
        struct guard guard = guard_of(shm, i);
        if (guard_lock(&guard) < 0)
            continue;
        for (uint64_t n = guard.shard->reach; n-- > 0;) {
            struct lock *lock = &guard.locks[n];
            if (lock->hash != 0 && lock->pid == pid && (owner == NULL || lock->owner == *owner))
                release(&guard, lock);
        }
        guard_unlock(&guard);
    }
}

void shm_unlock_all(struct shm *shm, uint64_t owner)
{
    release_all(shm, shm->pid, &owner);
}

void shm_locks_worker_gone(struct shm *shm, pid_t pid)
{
    release_all(shm, pid, NULL);
}

uint64_t shm_locks_held(struct shm *shm)
{
    uint64_t held = 0;
    for (uint64_t i = 0; i < shard_count(shm); i++) {
        struct guard guard = guard_of(shm, i);
        if (guard_lock(&guard) < 0)
            continue;
        for (uint64_t n = 0; n < guard.shard->reach; n++)
            held += guard.locks[n].hash != 0;
        guard_unlock(&guard);
    }
    return held;
}
