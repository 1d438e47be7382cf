#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/crypto_shorthash.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/mutex.h"
#include "shm/table.h"

static uint64_t clamp(uint64_t n, uint64_t low, uint64_t high)
{
    return n < low ? low : n > high ? high : n;
}

static uint64_t power_of_two(uint64_t n)
{
    return UINT64_C(1) << (63 - __builtin_clzll(n));
}

static uint64_t place(struct shm_region *region, uint64_t offset, uint64_t count, size_t size)
{
    region->offset = (offset + SHM_LINE - 1) / SHM_LINE * SHM_LINE;
    region->count = count;
    return region->offset + count * size;
}

/* A counter for each 4 kB, a bucket for each 256 bytes, a shard for each MB: the tables take a tenth of the
 * segment. */
static void plan_init(struct shm_plan *plan, uint64_t size)
{
    uint64_t at = sizeof(struct shm_segment);
    at = place(&plan->counters, at, clamp(power_of_two(size / 4096), 64, 65536), shm_counter_size());
    at = place(&plan->topics, at, clamp(size / 8192, 64, 65536), SHM_LINE);
    at = place(&plan->lock_shards, at, 4, shm_lock_shard_size());
    at = place(&plan->locks, at, clamp(power_of_two(size / 65536), 256, 4096), shm_lock_size());
    at = place(&plan->shards, at, clamp(power_of_two(size >> 20), 4, 64), shm_shard_size());
    at = place(&plan->buckets, at, power_of_two(size / 256), sizeof(uint64_t));
    place(&plan->heap, at, 0, 0);
    plan->heap.count = size - plan->heap.offset;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t shm_now(const struct shm *shm)
{
    return clock_ms(CLOCK_BOOTTIME) + shm->segment->clock_shift;
}

uint64_t shm_hash(const struct shm *shm, const void *data, size_t len)
{
    uint64_t hash;
    crypto_shorthash((unsigned char *)&hash, data, len, shm->segment->hash_key);
    return hash ? hash : 1;
}

int shm_name_length(const char *name, size_t max)
{
    size_t len = name ? strnlen(name, max + 1) : 0;
    if (len > max)
        return -E2BIG;
    return len > 0 ? (int)len : -EINVAL;
}

/* Stays empty where there is no /proc. */
static void read_boot_id(char boot_id[40])
{
    memset(boot_id, 0, 40);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, boot_id, 36) != 36)
        memset(boot_id, 0, 40);
    close(fd);
}

/* Deadlines are kept by a clock that no one can set. After a reboot the wall clock tells how long that took.
 */
static void clock_init(struct shm_segment *segment, bool reused)
{
    char boot_id[40];
    read_boot_id(boot_id);
    if (!reused)
        segment->clock_shift = 0;
    else if (!boot_id[0] || memcmp(boot_id, segment->boot_id, sizeof boot_id) != 0)
        segment->clock_shift = clock_ms(CLOCK_REALTIME) - segment->clock_epoch - clock_ms(CLOCK_BOOTTIME);
    memcpy(segment->boot_id, boot_id, sizeof boot_id);
    segment->clock_epoch = clock_ms(CLOCK_REALTIME) - clock_ms(CLOCK_BOOTTIME) - segment->clock_shift;
}

static int fill(struct shm *shm)
{
    struct shm_segment *segment = shm->segment;
    struct shm_plan plan;
    plan_init(&plan, shm->size);
    memset(segment, 0, plan.heap.offset);
    segment->layout = SHM_LAYOUT;
    segment->header_size = sizeof *segment;
    segment->size = shm->size;
    segment->plan = plan;
    if (getrandom(segment->hash_key, sizeof segment->hash_key, 0) != sizeof segment->hash_key)
        return -EIO;
    clock_init(segment, false);
    shm_counters_init(shm);
    shm_locks_init(shm);
    shm_heap_init(shm);
    shm_table_init(shm);
    atomic_store(&segment->magic, SHM_MAGIC);
    return 0;
}

static int check(const struct shm *shm)
{
    const struct shm_segment *segment = shm->segment;
    struct shm_plan plan;
    if (atomic_load(&shm->segment->magic) != SHM_MAGIC)
        return -EPROTO;
    if (segment->layout != SHM_LAYOUT || segment->header_size != sizeof *segment)
        return -EPROTONOSUPPORT;
    if (segment->size != shm->size)
        return -EMSGSIZE;
    plan_init(&plan, shm->size);
    return memcmp(&plan, &segment->plan, sizeof plan) == 0 ? 0 : -EUCLEAN;
}

/* Nobody else uses the file, so whatever its locks say is of processes that are no more. */
static int restart(struct shm *shm)
{
    int r = check(shm);
    if (r < 0)
        return r;
    clock_init(shm->segment, true);
    for (int i = 0; i < SHM_WORKERS; i++)
        atomic_store(&shm->segment->workers[i], 0);
    shm_counters_restart(shm);
    shm_locks_init(shm);
    r = shm_heap_restart(shm);
    return r < 0 ? r : shm_table_restart(shm);
}

static int map(int fd, size_t size, struct shm **ret_shm)
{
    struct shm *shm = calloc(1, sizeof *shm);
    if (!shm)
        return -ENOMEM;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        int error = errno;
        free(shm);
        return -error;
    }
    *shm = (struct shm){.fd = fd, .pid = getpid(), .size = size, .segment = memory};
    *ret_shm = shm;
    return 0;
}

static void unmap(struct shm *shm)
{
    munmap(shm->segment, shm->size);
    free(shm);
}

static int reserve(int fd, size_t size)
{
    int error;
    do
        error = posix_fallocate(fd, 0, (off_t)size);
    while (error == EINTR);
    return -error;
}

static int create_anonymous(size_t size, struct shm **ret_shm)
{
    int fd = memfd_create("cloudgate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    int r = reserve(fd, size);
    /* Sealed, so that no worker can take memory away under the others. */
    if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        r = -errno;
    struct shm *shm = NULL;
    if (r == 0)
        r = map(fd, size, &shm);
    if (shm)
        r = fill(shm);
    if (r < 0) {
        if (shm)
            unmap(shm);
        close(fd);
        return r;
    }
    *ret_shm = shm;
    return 0;
}

/* A server that was stopped while it made the file leaves a first page of zeros, as magic is stored last. */
static bool is_unfinished(const struct shm *shm)
{
    const char *page = (const char *)shm->segment;
    return page[0] == 0 && memcmp(page, page + 1, SHM_PAGE - 1) == 0;
}

/* Takes the file for this server, if it can be a segment of that size. ret_fresh: it is empty. */
static int claim_file(int fd, size_t size, bool *ret_fresh)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    /* The lock goes with the open file, so it stays for as long as any worker has inherited it. */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    if (fstat(fd, &status) < 0)
        return -errno;
    *ret_fresh = status.st_size == 0;
    if (*ret_fresh || (uint64_t)status.st_size == size)
        return 0;
    return status.st_size < (off_t)SHM_SIZE_MIN ? -EPROTO : -EMSGSIZE;
}

static int open_file(const char *path, size_t size, bool *ret_fresh)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return -errno;
    int r = claim_file(fd, size, ret_fresh);
    if (r == 0) {
        r = reserve(fd, size);
        /* What could be had is given back. */
        if (r < 0 && *ret_fresh && ftruncate(fd, 0) < 0)
            r = -errno;
    }
    if (r < 0) {
        close(fd);
        return r;
    }
    return fd;
}

static int create_file(const char *path, size_t size, struct shm **ret_shm)
{
    bool fresh = false;
    struct shm *shm = NULL;
    int fd = open_file(path, size, &fresh);
    if (fd < 0)
        return fd;
    int r = map(fd, size, &shm);
    if (!shm) {
        close(fd);
        return r;
    }
    shm->reused = !fresh && !is_unfinished(shm);
    r = shm->reused ? restart(shm) : fill(shm);
    if (r < 0) {
        shm_close(shm);
        return r;
    }
    *ret_shm = shm;
    return 0;
}

int shm_create(const char *path, size_t size, struct shm **ret_shm)
{
    if (size < SHM_SIZE_MIN || size > SHM_SIZE_MAX)
        return -EINVAL;
    size = (size + SHM_PAGE - 1) / SHM_PAGE * SHM_PAGE;
    return path ? create_file(path, size, ret_shm) : create_anonymous(size, ret_shm);
}

int shm_attach(int fd, struct shm **ret_shm)
{
    struct stat status;
    struct shm *shm = NULL;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (status.st_size < (off_t)SHM_SIZE_MIN || status.st_size > (off_t)SHM_SIZE_MAX)
        return -EPROTO;
    int r = map(fd, (size_t)status.st_size, &shm);
    if (!shm)
        return r;
    r = check(shm);
    if (r < 0) {
        unmap(shm);
        return r;
    }
    *ret_shm = shm;
    return 0;
}

void shm_close(struct shm *shm)
{
    if (!shm)
        return;
    close(shm->fd);
    unmap(shm);
}

int shm_fd(const struct shm *shm)
{
    return shm->fd;
}

bool shm_reused(const struct shm *shm)
{
    return shm->reused;
}

bool shm_holds_lock(void)
{
    return shm_mutex_held();
}

const char *shm_explain(int error)
{
    switch (error) {
    case -ENOSPC:
        return "there is not enough room for it";
    case -EFBIG:
        return "it is larger than a file may be here (ulimit -f)";
    case -ENOMEM:
        return "there is not enough memory for it";
    case -EINVAL:
        return "its size is out of bounds (1 MB to 64 GB), or its path is not that of a regular file";
    case -EBUSY:
        return "another server uses the file";
    case -EPROTO:
        return "the file is not a shared-memory segment of cloudgate; remove it or choose another";
    case -EPROTONOSUPPORT:
        return "it was made by another version of cloudgate; remove the file to start with an empty one";
    case -EMSGSIZE:
        return "the file was made with another size; remove it to start with an empty one";
    case -EUCLEAN:
        return "the file is damaged; remove it to start with an empty one";
    default:
        return strerror(-error);
    }
}

uint64_t shm_generation_next(struct shm *shm)
{
    return atomic_fetch_add(&shm->segment->generation, 1) + 1;
}

void shm_stats(struct shm *shm, struct shm_stats *ret_stats)
{
    struct shm_stats stats = {
        .size = shm->size,
        .keys = shm_table_count(shm),
        .locks = shm_locks_held(shm),
        .locks_max = shm->segment->plan.locks.count,
        .value_max = shm_value_max(shm),
    };
    shm_heap_stats(shm, &stats.store_size, &stats.store_used);
    shm_counters_stats(shm, &stats.counters, &stats.counters_max);
    *ret_stats = stats;
}
