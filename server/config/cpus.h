/* How many CPUs this process may keep busy. */
#ifndef CONFIG_CPUS_H
#define CONFIG_CPUS_H

/* The affinity mask's CPUs, or fewer when a CPU quota of a control group says so: the smallest on the way
   from the process's own group up, rounded up. At least 1. cgroup_root is where the hierarchies are mounted
   ("/sys/fs/cgroup"), process_file tells the groups of the process ("/proc/self/cgroup"). See cgroups(7). */
int cpus_allowed(const char *cgroup_root, const char *process_file);

#endif
