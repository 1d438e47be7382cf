#include "config/cpus.h"
#include "suite.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A made-up tree of control groups. The quotas are below one CPU or far above the machine's, so that the
   results do not depend on how many CPUs run the test. */
static char top[] = "/tmp/cloudgate-cpus.XXXXXX";
static char process_file[PATH_MAX];
static int affinity;

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", top, name);
    for (char *slash = strchr(path + sizeof top, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static int allowed(void)
{
    return cpus_allowed(top, process_file);
}

static void setup(void)
{
    cpu_set_t set;
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(process_file, sizeof process_file, "%s/self", top);
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    affinity = CPU_COUNT(&set);
}

static void teardown(void)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(case_105_no_quota)
{
    ck_assert_int_eq(allowed(), affinity); /* no file at all */
    write_file("self", "0::/app\n");
    ck_assert_int_eq(allowed(), affinity); /* no group to be seen */
    write_file("app/cpu.max", "max 100000\n");
    ck_assert_int_eq(allowed(), affinity);
    write_file("app/cpu.max", "nonsense\n");
    ck_assert_int_eq(allowed(), affinity);
}
END_TEST

START_TEST(case_105_affinity)
{
    cpu_set_t set, one;
    sched_getaffinity(0, sizeof set, &set);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set)) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(allowed(), 1);
    write_file("self", "0::/app\n");
    write_file("app/cpu.max", "99900000 100000\n"); /* a larger quota gives no CPUs that are not allowed */
    ck_assert_int_eq(allowed(), 1);
}
END_TEST

START_TEST(case_105_quota_of_version_2)
{
    write_file("self", "0::/app\n");
    write_file("app/cpu.max", "50000 100000\n"); /* half a CPU is one loop */
    ck_assert_int_eq(allowed(), 1);
    write_file("app/cpu.max", "100000 100000\n");
    ck_assert_int_eq(allowed(), 1);
    write_file("app/cpu.max", "100001 100000\n");
    ck_assert_int_eq(allowed(), affinity < 2 ? affinity : 2);
    write_file("app/cpu.max", "200000 100000\n");
    ck_assert_int_eq(allowed(), affinity < 2 ? affinity : 2);
}
END_TEST

START_TEST(case_105_quota_of_a_parent)
{
    write_file("self", "0::/slice/app/deep\n");
    write_file("slice/app/deep/cpu.max", "max 100000\n");
    write_file("slice/cpu.max", "50000 100000\n");
    ck_assert_int_eq(allowed(), 1);
}
END_TEST

START_TEST(case_105_quota_at_the_top_of_a_container)
{
    write_file("self", "0::/docker/0123456789\n"); /* the host's path, which is not to be seen here */
    write_file("cpu.max", "50000 100000\n");
    ck_assert_int_eq(allowed(), 1);
    write_file("self", "0::/\n");
    ck_assert_int_eq(allowed(), 1);
}
END_TEST

START_TEST(case_105_quota_of_version_1)
{
    write_file("self", "12:memory:/app\n4:cpu,cpuacct:/app\n3:cpuset:/app\n0::/other\n");
    write_file("cpu/app/cpu.cfs_quota_us", "-1\n");
    write_file("cpu/app/cpu.cfs_period_us", "100000\n");
    ck_assert_int_eq(allowed(), affinity);
    write_file("cpu/app/cpu.cfs_quota_us", "50000\n");
    ck_assert_int_eq(allowed(), 1);
    write_file("self", "3:cpuset:/app\n"); /* begins alike, is another */
    ck_assert_int_eq(allowed(), affinity);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpus");
    TCase *tests = tcase_create("cpus");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, case_105_no_quota);
    tcase_add_test(tests, case_105_affinity);
    tcase_add_test(tests, case_105_quota_of_version_2);
    tcase_add_test(tests, case_105_quota_of_a_parent);
    tcase_add_test(tests, case_105_quota_at_the_top_of_a_container);
    tcase_add_test(tests, case_105_quota_of_version_1);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
