/* Timers that functions set on their loop, and calls that they hand to another. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/timers.c", "timers");
    server = server_start(folder, (const char *const[]){"THREADS=2", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

START_TEST(what_is_set_rings)
{
    static const struct {
        const char *how, *body;
    } rows[] = {{"after", "0 rings, loop same"},
                {"every", "3 rings, loop same"},
                {"cancel", "7 rings, loop same"},
                {"post", "1 rings, loop same"}};
    for (int run = 0; run < 4; run++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            answer_expect_text(client_get(server, HTTP1, text_print("/api/timers?how=%s", rows[i].how)), 200,
                               rows[i].body);
}
END_TEST

static long beats(void)
{
    return strtol(client_get(server, HTTP1, "/api/timers?how=beats")->body, NULL, 10);
}

START_TEST(each_loop_has_one_from_its_start)
{
    long before = beats();
    for (int i = 0; i < 500 && beats() < before + 10; i++)
        pause_ms(10);
    ck_assert_int_ge(beats(), before + 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timers");
    TCase *tests = harness_case(suite, "timers", setup, teardown);
    tcase_add_test(tests, what_is_set_rings);
    tcase_add_test(tests, each_loop_has_one_from_its_start);
    return harness_run(suite);
}
