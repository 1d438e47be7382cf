#include "process/descriptors.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

void descriptors_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (before < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) < 0)
        log_warning("limit of open files: stays at %llu: %s", (unsigned long long)before, strerror(errno));
    else if (before < limit.rlim_max)
        log_info("limit of open files: %llu, was %llu", (unsigned long long)limit.rlim_cur,
                 (unsigned long long)before);
}
