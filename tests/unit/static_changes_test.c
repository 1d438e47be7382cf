#include "site.h"
#include "suite.h"

#include <fcntl.h>
#include <time.h>

static void set_time(const char *name, int64_t seconds)
{
    char *path = scratch_path(name);
    const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

/* Until no change can hide behind the time of the one before. */
static struct static_table *settled(struct static_table *table)
{
    for (int i = 0; i < 500 && static_table_unsettled(table); i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        struct static_table *after = load_after(table);
        if (after != NULL) {
            static_table_destroy(table);
            table = after;
        }
    }
    ck_assert(!static_table_unsettled(table));
    return table;
}

START_TEST(changes_make_another_table)
{
    scratch_text("public/same.txt", "same");
    scratch_text("public/other.txt", "old");
    scratch_text("public/gone.txt", "gone");
    struct static_table *table = settled(load());
    ck_assert_ptr_null(load_after(table));
    scratch_text("public/other.txt", "new");
    scratch_text("public/added/index.html", "added");
    char *gone = scratch_path("public/gone.txt");
    ck_assert_int_eq(unlink(gone), 0);
    free(gone);
    struct static_table *after = load_after(table);
    ck_assert_ptr_nonnull(after);
    ck_assert_str_eq(get(after, "/other.txt"), "new");
    ck_assert_str_eq(get(after, "/added"), "->");
    ck_assert_str_eq(get(after, "/gone.txt"), "404");
    ck_assert_ptr_eq(find(after, "/same.txt"), find(table, "/same.txt"));
    /* The old one is as it was. */
    ck_assert_str_eq(get(table, "/other.txt"), "old");
    ck_assert_str_eq(get(table, "/gone.txt"), "gone");
    static_table_destroy(table);
    ck_assert_str_eq(get(after, "/same.txt"), "same");
    static_table_destroy(after);
}
END_TEST

/* Size and time are the same, so only the content can tell. */
START_TEST(a_change_within_the_same_instant_is_seen)
{
    scratch_text("public/a.txt", "one");
    struct static_table *table = load();
    ck_assert(static_table_unsettled(table));
    int64_t now = wall_ms() / 1000;
    scratch_text("public/a.txt", "two");
    set_time("public/a.txt", now);
    struct static_table *after = load_after(table);
    ck_assert_str_eq(get(after, "/a.txt"), "two");
    static_table_destroy(table);
    static_table_destroy(after);
}
END_TEST

/* A client that asks by date never takes one content for the other. */
START_TEST(dates_only_grow)
{
    scratch_text("public/a.txt", "one");
    set_time("public/a.txt", 784111777);
    struct static_table *one = settled(load());
    ck_assert_int_eq(find(one, "/a.txt")->modified, 784111777);
    scratch_text("public/a.txt", "two");
    set_time("public/a.txt", 784111777);
    struct static_table *two = settled(load_after(one));
    ck_assert_int_eq(find(two, "/a.txt")->modified, 784111778);
    scratch_text("public/a.txt", "three");
    set_time("public/a.txt", 100);
    struct static_table *three = settled(load_after(two));
    ck_assert_int_eq(find(three, "/a.txt")->modified, 784111779);
    set_time("public/a.txt", 784222222); /* the same content: nothing new to tell */
    struct static_table *four = settled(load_after(three));
    ck_assert_int_eq(find(four, "/a.txt")->modified, 784111779);
    static_table_destroy(one);
    static_table_destroy(two);
    static_table_destroy(three);
    static_table_destroy(four);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("static_changes");
    TCase *tests = tcase_create("static_changes");
    tcase_add_checked_fixture(tests, scratch_setup, scratch_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, changes_make_another_table);
    tcase_add_test(tests, a_change_within_the_same_instant_is_seen);
    tcase_add_test(tests, dates_only_grow);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
