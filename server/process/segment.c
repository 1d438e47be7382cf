#include "process/segment.h"

#include "base/log.h"
#include "process/memory.h"
#include "shm/shm.h"

#include <errno.h>

/* All of it is reserved at once, and a machine that has not enough would start to kill: others first. */
static int reserve(const struct settings *settings, struct shm **ret_shm)
{
    uint64_t available = memory_available("/proc/meminfo", "/sys/fs/cgroup", "/proc/self/cgroup");
    if (settings->shm_file == NULL && settings->shm_size > available)
        return -ENOMEM;
    return shm_create(settings->shm_file, settings->shm_size, ret_shm);
}

int segment_open(const struct settings *settings, struct shm **ret_shm)
{
    int error = reserve(settings, ret_shm);
    if (error < 0)
        log_error("cannot make the shared memory (SHM_SIZE is %llu bytes%s%s): %s",
                  (unsigned long long)settings->shm_size, settings->shm_file ? ", in " : "",
                  settings->shm_file ? settings->shm_file : "", shm_explain(error));
    return error;
}
