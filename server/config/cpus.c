#include "config/cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int cpus_of_mask(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    /* More CPUs than the mask of libc holds. */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static bool read_line(const char *folder, const char *name, char *line, int size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool ok = fgets(line, size, file) != NULL;
    fclose(file);
    return ok;
}

static int rounded_up(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    long long cpus = quota / period + (quota % period != 0);
    return cpus < INT_MAX ? (int)cpus : INT_MAX;
}

/* INT_MAX: no quota here. */
static int quota_of(const char *folder, bool v2)
{
    char line[64];
    long long quota, period;
    if (v2) {
        /* "max 100000" when there is none */
        if (!read_line(folder, "cpu.max", line, sizeof line) ||
            sscanf(line, "%lld %lld", &quota, &period) != 2)
            return INT_MAX;
        return rounded_up(quota, period);
    }
    if (!read_line(folder, "cpu.cfs_quota_us", line, sizeof line) || sscanf(line, "%lld", &quota) != 1 ||
        !read_line(folder, "cpu.cfs_period_us", line, sizeof line) || sscanf(line, "%lld", &period) != 1)
        return INT_MAX;
    return rounded_up(quota, period);
}

/* From mount/group up to mount itself. In a container the group's path may be the host's, of which only the
   mount's top is visible here; the folders in between are then missing, which is no harm. */
static int quota_on_the_way(const char *mount, const char *group, bool v2)
{
    char folder[PATH_MAX];
    size_t top = strlen(mount);
    int least = INT_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder)
        return INT_MAX;
    for (;;) {
        int quota = quota_of(folder, v2);
        least = quota < least ? quota : least;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < top)
            return least;
        *slash = '\0';
    }
}

static bool has_cpu(const char *controllers)
{
    char list[256];
    snprintf(list, sizeof list, ",%s,", controllers);
    return strstr(list, ",cpu,") != NULL;
}

/* line: "0::/group" of version 2, "4:cpu,cpuacct:/group" of version 1, where the hierarchy is mounted under
   its list of controllers, with a link for each. */
static int quota_of_line(const char *cgroup_root, char *line)
{
    char mount[PATH_MAX], *controllers = strchr(line, ':'), *group;
    if (controllers == NULL || (group = strchr(++controllers, ':')) == NULL)
        return INT_MAX;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0') {
        int unified = quota_on_the_way(cgroup_root, group, true);
        snprintf(mount, sizeof mount, "%.4000s/unified", cgroup_root); /* beside version 1 */
        int hybrid = quota_on_the_way(mount, group, true);
        return unified < hybrid ? unified : hybrid;
    }
    if (!has_cpu(controllers))
        return INT_MAX;
    snprintf(mount, sizeof mount, "%.4000s/cpu", cgroup_root);
    return quota_on_the_way(mount, group, false);
}

int cpus_allowed(const char *cgroup_root, const char *process_file)
{
    char line[PATH_MAX];
    int cpus = cpus_of_mask();
    FILE *file = fopen(process_file, "re");
    if (file == NULL)
        return cpus;
    while (fgets(line, sizeof line, file) != NULL) {
        int quota = quota_of_line(cgroup_root, line);
        cpus = quota < cpus ? quota : cpus;
    }
    fclose(file);
    return cpus > 0 ? cpus : 1;
}
