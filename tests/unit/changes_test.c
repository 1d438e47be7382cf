#include "process/changes.h"

#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/changes_test_XXXXXX";
static struct settings settings;
static char functions[64], config[64];

static void write_to(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(functions, sizeof functions, "%s/functions", folder);
    snprintf(config, sizeof config, "%s/cert.pem", folder);
    ck_assert_int_eq(mkdir(functions, 0755), 0);
    settings = (struct settings){.root = folder, .functions_link = functions, .ssl_cert = config};
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static uint64_t modules(void)
{
    return changes_fingerprint(&settings, CHANGES_OF_MODULES);
}

START_TEST(each_kind_sees_its_own_files)
{
    const uint64_t none = modules(), sources = changes_fingerprint(&settings, CHANGES_OF_SOURCES);
    const uint64_t configs = changes_fingerprint(&settings, CHANGES_OF_CONFIG);
    write_to("functions/a.c", "x");
    ck_assert(changes_fingerprint(&settings, CHANGES_OF_SOURCES) != sources);
    write_to("apiconfig.yaml", "{}");
    ck_assert(changes_fingerprint(&settings, CHANGES_OF_CONFIG) != configs);
    write_to("functions/note.txt", "x");
    write_to("functions/.a.so", "x");
    ck_assert(modules() == none);
    write_to("functions/a.so", "x");
    const uint64_t one = modules();
    ck_assert(one != none);
    ck_assert(modules() == one);
    write_to("cert.pem", "x");
    ck_assert(modules() != one);
}
END_TEST

START_TEST(whatever_the_compiler_reads_is_a_source)
{
    static const char *const names[] = {"a.c", "a.cc", "a.cpp", "a.h", "a.hh", "a.hpp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[32];
        const uint64_t before = changes_fingerprint(&settings, CHANGES_OF_SOURCES);
        snprintf(name, sizeof name, "functions/%s", names[i]);
        write_to(name, "x");
        ck_assert_msg(changes_fingerprint(&settings, CHANGES_OF_SOURCES) != before, "%s", name);
    }
}
END_TEST

START_TEST(case_82_replaced_renamed_removed)
{
    char path[128], other[128];
    snprintf(path, sizeof path, "%s/a.so", functions);
    snprintf(other, sizeof other, "%s/.next", functions);
    write_to("functions/a.so", "one");
    const uint64_t one = modules();
    write_to("functions/.next", "one");
    ck_assert_int_eq(rename(other, path), 0);
    const uint64_t two = modules(); /* the same bytes in another file */
    ck_assert(two != one);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(modules() != two);
}
END_TEST

START_TEST(a_change_has_to_settle)
{
    struct changes changes;
    changes_take(&changes, 1, 0);
    ck_assert(!changes_see(&changes, 1, 10000));
    ck_assert(!changes_see(&changes, 2, 10100));
    ck_assert(!changes_see(&changes, 3, 10200));
    ck_assert(!changes_see(&changes, 3, 10399));
    ck_assert(changes_see(&changes, 3, 10400));
    changes_take(&changes, 3, 10400);
    ck_assert(!changes_see(&changes, 3, 20000));
    ck_assert(!changes_see(&changes, 4, 20100));
    ck_assert(!changes_see(&changes, 3, 20200)); /* it was taken back */
    ck_assert(!changes_see(&changes, 3, 30000));
}
END_TEST

START_TEST(one_that_never_settles_is_taken_all_the_same)
{
    struct changes changes;
    changes_take(&changes, 0, 0);
    uint64_t fingerprint = 0;
    int64_t now = 1000;
    while (!changes_see(&changes, ++fingerprint, now))
        now += 50;
    ck_assert_int_eq(now, 1000 + CHANGES_LONGEST_MS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("changes");
    TCase *tests = tcase_create("changes");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, each_kind_sees_its_own_files);
    tcase_add_test(tests, whatever_the_compiler_reads_is_a_source);
    tcase_add_test(tests, case_82_replaced_renamed_removed);
    tcase_add_test(tests, a_change_has_to_settle);
    tcase_add_test(tests, one_that_never_settles_is_taken_all_the_same);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
