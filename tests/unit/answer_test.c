#include "app/answer.h"
#include "suite.h"

#include <string.h>

static struct arena arena;
static struct answer answer;

static void begin(void)
{
    arena_init(&arena, NULL);
    answer_init(&answer, &arena);
}

static void end(void)
{
    answer_finish(&answer);
    arena_finish(&arena);
}

static void print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    answer_vprintf(&answer, format, args);
    va_end(args);
}

START_TEST(case_108_what_would_inject_is_a_fault)
{
    static const struct {
        const char *name, *value;
    } bad[] = {
        {"location", "/a\r\nSet-Cookie: x=1"},
        {"location", "/a\nb"},
        {"x", "a\rb"},
        {"x y", "v"},
        {"x:", "v"},
        {"", "v"},
        {"x\r\n", "v"},
        {NULL, "v"},
        {"x", NULL},
        {"x", "\x01"},
        {"x", "a\x7f"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        begin();
        answer_set_field(&answer, bad[i].name, bad[i].value);
        ck_assert_msg(answer.fault != NULL, "number %zu", i);
        ck_assert_uint_eq(answer.field_count, 0);
        end();
    }
}
END_TEST

START_TEST(case_108_cookies_that_would_inject_are_a_fault)
{
    static const char *const bad[][3] = {
        {"c", "v\r\nX: y", NULL},     {"c", "v; Path=/", NULL}, {"c=d", "v", NULL},
        {"c", "v", "Path=/\r\nX: y"}, {NULL, "v", NULL},        {"c", NULL, NULL},
        {"c d", "v", "Path"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        begin();
        answer_set_cookie(&answer, bad[i][0], bad[i][1], bad[i][2]);
        ck_assert_msg(answer.fault != NULL, "number %zu", i);
        end();
    }
}
END_TEST

START_TEST(case_109_cookies_are_fields_of_their_own)
{
    begin();
    answer_set_cookie(&answer, "a", "1", "Expires=Wed, 01 Jan 2031 00:00:00 GMT; Path=/");
    answer_set_cookie(&answer, "b", "2", NULL);
    answer_set_cookie(&answer, "c", "3", "");
    ck_assert_uint_eq(answer.field_count, 3);
    ck_assert_str_eq(answer.fields[0].value.ptr, "a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT; Path=/");
    ck_assert_str_eq(answer.fields[1].value.ptr, "b=2");
    ck_assert_str_eq(answer.fields[2].value.ptr, "c=3");
    ck_assert_ptr_null(answer.fault);
    end();
}
END_TEST

START_TEST(case_109_framing_is_the_servers_and_the_last_type_wins)
{
    begin();
    answer_add_field(&answer, "Content-Length", "5");
    answer_add_field(&answer, "CONNECTION", "close");
    answer_set_field(&answer, "Transfer-Encoding", "chunked");
    ck_assert_uint_eq(answer.field_count, 0);
    answer_add_field(&answer, "Content-Type", "text/plain");
    answer_add_field(&answer, "content-type", "text/css");
    ck_assert_uint_eq(answer.field_count, 1);
    ck_assert_str_eq(answer_field(&answer, "content-type")->value.ptr, "text/css");
    end();
}
END_TEST

START_TEST(setting_replaces_adding_adds)
{
    begin();
    answer_add_field(&answer, "X-A", "1");
    answer_add_field(&answer, "x-a", "2");
    ck_assert_uint_eq(answer.field_count, 2);
    answer_set_field(&answer, "x-A", "3");
    ck_assert_uint_eq(answer.field_count, 1);
    ck_assert_str_eq(answer.fields[0].name.ptr, "x-a");
    ck_assert_str_eq(answer.fields[0].value.ptr, "3");
    end();
}
END_TEST

START_TEST(fields_are_bounded)
{
    begin();
    for (int i = 0; i < ANSWER_MAX_FIELDS; i++)
        answer_add_field(&answer, "x", "y");
    ck_assert_ptr_null(answer.fault);
    answer.given = true; /* there is still room for what the server adds */
    for (int i = 0; i < ANSWER_OWN_FIELDS; i++)
        answer_add_field(&answer, "x", "y");
    ck_assert_ptr_null(answer.fault);
    answer.given = false;
    answer_add_field(&answer, "x", "y");
    ck_assert_ptr_nonnull(answer.fault);
    end();
}
END_TEST

START_TEST(a_status_out_of_range_is_a_fault)
{
    static const int bad[] = {-1, 0, 100, 101, 199, 600, 1000};
    for (size_t i = 0; i < COUNT(bad); i++) {
        begin();
        answer_set_status(&answer, bad[i]);
        ck_assert_ptr_nonnull(answer.fault);
        end();
    }
}
END_TEST

START_TEST(bodies_of_any_size_are_whole)
{
    begin();
    for (int i = 0; i < 100000; i++)
        print("%07d\n", i);
    ck_assert_uint_eq(answer.body_len, 800000);
    for (int i = 0; i < 100000; i += 997)
        ck_assert_int_eq(atoi(answer.body + 8 * i), i);
    answer_write(&answer, "a\0b", 3);
    ck_assert_mem_eq(answer.body + 800000, "a\0b", 3);
    print("%300000d", 1);
    ck_assert_uint_eq(answer.body_len, 1100003);
    end();
}
END_TEST

START_TEST(a_later_answer_replaces_body_and_type_but_not_fields)
{
    begin();
    answer_set_field(&answer, "x-kept", "1");
    answer_text(&answer, 200, "first %d", 1);
    answer_begin(&answer, 404, "text/html");
    answer_write(&answer, "second", 6);
    ck_assert_int_eq(answer.status, 404);
    ck_assert_uint_eq(answer.body_len, 6);
    ck_assert_str_eq(answer_field(&answer, "content-type")->value.ptr, "text/html");
    ck_assert_ptr_nonnull(answer_field(&answer, "x-kept"));
    end();
}
END_TEST

SUITE_MAIN("answer", case_108_what_would_inject_is_a_fault, case_108_cookies_that_would_inject_are_a_fault,
           case_109_cookies_are_fields_of_their_own, case_109_framing_is_the_servers_and_the_last_type_wins,
           setting_replaces_adding_adds, fields_are_bounded, a_status_out_of_range_is_a_fault,
           bodies_of_any_size_are_whole, a_later_answer_replaces_body_and_type_but_not_fields)
