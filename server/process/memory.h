/* How much memory this process may still use. */
#ifndef PROCESS_MEMORY_H
#define PROCESS_MEMORY_H

#include <stdint.h>

/* Bytes: what the machine has available, or less where a control group (version 2) grants less. meminfo and
   cgroup_root are
   "/proc/meminfo" and "/sys/fs/cgroup", process_file is "/proc/self/cgroup"; UINT64_MAX when nothing of it
   can be read. */
uint64_t memory_available(const char *meminfo, const char *cgroup_root, const char *process_file);

#endif
