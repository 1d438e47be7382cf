#include "app/static_watch.h"
#include "base/clock.h"
#include "scratch.h"
#include "suite.h"

#include <pthread.h>
#include <time.h>

/* What a reader of tables does: it takes the newest when it is told, and gives the one before back. */
static struct {
    pthread_mutex_t lock;
    struct static_table *offered;
    struct buffer told;
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void publish(void *arg, struct static_table *table)
{
    (void)arg;
    static_table_hold(table);
    pthread_mutex_lock(&desk.lock);
    struct static_table *unwanted = desk.offered;
    desk.offered = table;
    pthread_mutex_unlock(&desk.lock);
    if (unwanted != NULL)
        static_table_release(unwanted);
}

static void tell(void *arg, const char *text)
{
    (void)arg;
    pthread_mutex_lock(&desk.lock);
    buffer_text(&desk.told, text);
    pthread_mutex_unlock(&desk.lock);
}

static char *dir;

static struct static_watch *start(struct static_table **ret_table)
{
    struct static_watch *watch = NULL;
    char *error = NULL;
    dir = scratch_path("public");
    const struct static_options options = {.dir = dir, .memory = 1 << 20};
    ck_assert_int_eq(static_watch_create(&options, 100, &watch, &error), 0);
    *ret_table = static_watch_table(watch);
    static_table_hold(*ret_table);
    ck_assert_int_eq(static_watch_start(watch, &(struct static_listener){.publish = publish, .tell = tell}),
                     0);
    return watch;
}

static void finish(struct static_watch *watch)
{
    static_watch_destroy(watch);
    buffer_finish(&desk.told);
    free(dir);
}

static struct static_table *adopt(struct static_table *table)
{
    pthread_mutex_lock(&desk.lock);
    struct static_table *newest = desk.offered;
    desk.offered = NULL;
    pthread_mutex_unlock(&desk.lock);
    if (newest == NULL)
        return table;
    static_table_release(table);
    return newest;
}

/* Adopts tables until the path has that text; NULL: is not there. */
static struct static_table *await(struct static_table *table, const char *path, const char *text)
{
    const struct static_file *file;
    for (int i = 0; i < 3000; i++) {
        bool found = static_table_find(table, cg_string(path), &file) == STATIC_FILE;
        if (found ? text && strcmp(file->forms[CODING_IDENTITY].data.ptr, text) == 0 : text == NULL)
            return table;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        table = adopt(table);
    }
    ck_abort_msg("%s never was %s", path, text ? text : "gone");
}

START_TEST(tables_follow_the_folder)
{
    struct static_table *table;
    scratch_text("public/a.txt", "a");
    struct static_watch *watch = start(&table);
    for (int i = 0; i < 20; i++) {
        char *text = xsprintf("edit %d", i), *name = xsprintf("public/sub%d/b.txt", i);
        scratch_text("public/a.txt", text);
        scratch_text(name, text);
        table = await(table, "/a.txt", text);
        table = await(table, name + 6, text);
        free(name);
        free(text);
    }
    char *path = scratch_path("public/a.txt");
    ck_assert_int_eq(unlink(path), 0);
    table = await(table, "/a.txt", NULL);
    free(path);
    static_watch_stop(watch);
    finish(watch);
}
END_TEST

/* Nobody gives it back, so it is as it was although dozens have followed. */
START_TEST(a_table_in_use_stays)
{
    struct static_table *first, *table;
    scratch_text("public/a.txt", "first");
    struct static_watch *watch = start(&first);
    static_table_hold(first);
    table = first;
    for (int i = 0; i < 5; i++) {
        char *text = xsprintf("edit %d", i);
        scratch_text("public/a.txt", text);
        table = await(table, "/a.txt", text);
        free(text);
    }
    ck_assert_ptr_eq(await(first, "/a.txt", "first"), first);
    finish(watch);
}
END_TEST

START_TEST(a_folder_that_comes_later)
{
    struct static_table *table;
    struct static_watch *watch = start(&table);
    ck_assert_uint_eq(static_table_count(table), 0);
    scratch_text("public/a.txt", "a");
    table = await(table, "/a.txt", "a");
    ck_assert_ptr_null(desk.told.data);
    finish(watch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("static_watch");
    TCase *tests = tcase_create("static_watch");
    tcase_add_checked_fixture(tests, scratch_setup, scratch_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, tables_follow_the_folder);
    tcase_add_test(tests, a_table_in_use_stays);
    tcase_add_test(tests, a_folder_that_comes_later);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
