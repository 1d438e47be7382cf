#include "process/memory.h"
#include "suite.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cloudgate-test-XXXXXX";

static const char *in(const char *name)
{
    static char path[4][128];
    static int next;
    char *text = path[next++ % 4];
    snprintf(text, sizeof path[0], "%s/%s", folder, name);
    return text;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static uint64_t available(void)
{
    return memory_available(in("meminfo"), in("root"), in("cgroup"));
}

START_TEST(the_least_of_machine_and_groups)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    mkdir(in("root"), 0700);
    mkdir(in("root/a"), 0700);
    mkdir(in("root/a/b"), 0700);
    ck_assert_uint_eq(available(), UINT64_MAX);
    put("meminfo", "MemTotal:       2000 kB\nMemAvailable:    1000 kB\n");
    ck_assert_uint_eq(available(), 1000 * 1024);
    put("cgroup", "1:name=systemd:/x\n0::/a/b\n");
    put("root/a/b/memory.max", "max\n");
    ck_assert_uint_eq(available(), 1000 * 1024);
    put("root/a/memory.max", "500000\n");
    put("root/a/memory.current", "100000\n");
    ck_assert_uint_eq(available(), 400000);
    put("root/a/b/memory.max", "300000\n");
    ck_assert_uint_eq(available(), 300000);
    put("root/a/b/memory.current", "400000\n");
    ck_assert_uint_eq(available(), 0);
}
END_TEST

START_TEST(this_machine_has_some)
{
    uint64_t bytes = memory_available("/proc/meminfo", "/sys/fs/cgroup", "/proc/self/cgroup");
    ck_assert_uint_gt(bytes, 1 << 20);
}
END_TEST

SUITE_MAIN("memory", the_least_of_machine_and_groups, this_machine_has_some)
