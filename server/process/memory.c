#include "process/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t machine_has(const char *meminfo)
{
    char line[256];
    uint64_t kilobytes = 0, bytes = UINT64_MAX;
    FILE *file = fopen(meminfo, "re");
    if (file == NULL)
        return UINT64_MAX;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1)
            bytes = kilobytes * 1024;
    fclose(file);
    return bytes;
}

/* UINT64_MAX for "max" and for a file that is not there. */
static uint64_t number_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    uint64_t number = UINT64_MAX;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

static uint64_t group_grants(const char *folder)
{
    uint64_t limit = number_in(folder, "memory.max"), used = number_in(folder, "memory.current");
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return limit;
    return used < limit ? limit - used : 0;
}

/* The group itself and each above it can be the one that limits. */
static uint64_t groups_grant(const char *root, const char *process_file)
{
    char line[PATH_MAX], folder[2 * PATH_MAX];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen(process_file, "re");
    if (file == NULL)
        return UINT64_MAX;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::", 3) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(folder, sizeof folder, "%s%s", root, line + 3);
        while (strlen(folder) >= strlen(root)) {
            least = less(least, group_grants(folder));
            char *slash = strrchr(folder, '/');
            if (slash == NULL)
                break;
            *slash = '\0';
        }
    }
    fclose(file);
    return least;
}

uint64_t memory_available(const char *meminfo, const char *cgroup_root, const char *process_file)
{
    return less(machine_has(meminfo), groups_grant(cgroup_root, process_file));
}
