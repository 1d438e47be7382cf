#include "shm/segment.h"

#include "shm/counters.h"
#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/locks.h"
#include "shm/mutex.h"
#include "shm/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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
   segment. */
static void plan_init(struct shm_plan *plan, uint64_t size)
{
    uint64_t at = sizeof(struct shm_segment);
    at = place(&plan->counters, at, clamp(power_of_two(size / 4096), 64, 65536), shm_counter_size());
    at = place(&plan->lock_shards, at, 4, shm_lock_shard_size());
    at = place(&plan->locks, at, clamp(power_of_two(size / 65536), 256, 4096), shm_lock_size());
    at = place(&plan->shards, at, clamp(power_of_two(size >> 20), 4, 64), shm_shard_size());
    at = place(&plan->buckets, at, power_of_two(size / 256), sizeof(uint64_t));
    place(&plan->heap, at, 0, 0);
    plan->heap.count = size - plan->heap.offset;
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
    shm_clock_init(segment, false);
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
    int error = check(shm);
    if (error != 0)
        return error;
    shm_clock_init(shm->segment, true);
    for (int i = 0; i < SHM_WORKERS; i++)
        atomic_store(&shm->segment->workers[i], 0);
    shm_counters_restart(shm);
    shm_locks_init(shm);
    error = shm_heap_restart(shm);
    return error != 0 ? error : shm_table_restart(shm);
}

static int map(int fd, size_t size, struct shm **ret_shm)
{
    struct shm *shm = calloc(1, sizeof *shm);
    if (shm == NULL)
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
    int error = reserve(fd, size);
    /* Sealed, so that no worker can take memory away under the others. */
    if (error == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        error = -errno;
    struct shm *shm = NULL;
    if (error == 0)
        error = map(fd, size, &shm);
    if (shm == NULL) {
        close(fd);
        return error;
    }
    error = fill(shm);
    if (error != 0) {
        shm_close(shm);
        return error;
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
    int error = claim_file(fd, size, ret_fresh);
    if (error == 0) {
        error = reserve(fd, size);
        /* What could be had is given back. */
        if (error != 0 && *ret_fresh && ftruncate(fd, 0) < 0)
            error = -errno;
    }
    if (error != 0) {
        close(fd);
        return error;
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
    int error = map(fd, size, &shm);
    if (shm == NULL) {
        close(fd);
        return error;
    }
    error = fresh || is_unfinished(shm) ? fill(shm) : restart(shm);
    if (error != 0) {
        shm_close(shm);
        return error;
    }
    *ret_shm = shm;
    return 0;
}

int shm_create(const char *path, size_t size, struct shm **ret_shm)
{
    if (size < SHM_SIZE_MIN || size > SHM_SIZE_MAX)
        return -EINVAL;
    size = (size + SHM_PAGE - 1) / SHM_PAGE * SHM_PAGE;
    return path != NULL ? create_file(path, size, ret_shm) : create_anonymous(size, ret_shm);
}

int shm_attach(int fd, struct shm **ret_shm)
{
    struct stat status;
    struct shm *shm = NULL;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (status.st_size < (off_t)SHM_SIZE_MIN || status.st_size > (off_t)SHM_SIZE_MAX)
        return -EPROTO;
    int error = map(fd, (size_t)status.st_size, &shm);
    if (shm == NULL)
        return error;
    error = check(shm);
    if (error != 0) {
        unmap(shm);
        return error;
    }
    *ret_shm = shm;
    return 0;
}

void shm_close(struct shm *shm)
{
    if (shm == NULL)
        return;
    close(shm->fd);
    unmap(shm);
}

int shm_fd(const struct shm *shm)
{
    return shm->fd;
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
