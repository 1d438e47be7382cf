/* Who the client is, when others stand between. */
#include "event.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static struct server *trusting, *alone;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    trusting = server_start(folder, (const char *const[]){"TRUSTED_PROXIES=127.0.0.0/8, 10.0.0.0/8", NULL});
    alone = server_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    server_stop(trusting);
    server_stop(alone);
}

static json_t *event_with(struct server *server, const char *field)
{
    struct request request = {.path = "/api/echo",
                              .fields = (const char *const[]){field, "X-Real-IP: 198.51.100.1", NULL}};
    return event_of(client_send(server, &request));
}

START_TEST(case_84_a_stranger_is_not_believed)
{
    event_expect_text(event_with(alone, "X-Forwarded-For: 198.51.100.9"), "ip", "127.0.0.1");
    event_expect_text(event_with(alone, "Forwarded: for=198.51.100.9"), "ip", "127.0.0.1");
}
END_TEST

START_TEST(case_85_from_the_right)
{
    event_expect_text(event_with(trusting, "X-Forwarded-For: 203.0.113.66, 198.51.100.7, 10.0.0.5"), "ip",
                      "198.51.100.7");
    event_expect_text(event_with(trusting, "X-Forwarded-For: 10.0.0.9, 10.0.0.5"), "ip", "10.0.0.9");
    event_expect_text(event_with(trusting, "X-Forwarded-For;"), "ip", "127.0.0.1");
    event_expect_text(event_with(trusting, "X-Forwarded-For: 198.51.100.7, garbage"), "ip", "127.0.0.1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proxies");
    TCase *tests = harness_case(suite, "proxies", setup, teardown);
    tcase_add_test(tests, case_84_a_stranger_is_not_believed);
    tcase_add_test(tests, case_85_from_the_right);
    return harness_run(suite);
}
