#include "http/http2_head.h"

#include "parse/field.h"
#include "parse/head.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 4096

struct pair {
    const char *name, *value;
};

static struct loop loop;
static struct http2_head head;
static struct request *request;

static void begin(void)
{
    memset(&loop, 0, sizeof loop);
    memset(&head, 0, sizeof head);
    request = request_create(&loop, NULL, NULL, NULL);
}

static void end(void)
{
    request_destroy(request);
    arena_pool_finish(&loop.arenas);
}

static const cg_field *field_of(const char *name)
{
    return fields_first(&(cg_fields){request->fields, request->field_count}, name);
}

/* A name of NULL ends the list. The bytes are gone after each call, as nghttp2's are. */
static int take(const struct pair *pairs)
{
    for (; pairs->name != NULL; pairs++) {
        char *name = strdup(pairs->name), *value = strdup(pairs->value);
        http2_head_add(&head, request, cg_string(name), cg_string(value), LIMIT);
        free(name);
        free(value);
    }
    return http2_head_finish(&head, request);
}

#define GET                                   \
    {":method", "GET"}, {":scheme", "https"}, \
    {                                         \
        ":authority", "localhost:8443"        \
    }

START_TEST(looks_like_any_other_request)
{
    ck_assert_int_eq(take((struct pair[]){{":method", "POST"},
                                          {":scheme", "https"},
                                          {":authority", "localhost:8443"},
                                          {":path", "/a%20b?x=1&y=?"},
                                          {"accept", "*/*"},
                                          {"content-length", "12"},
                                          {NULL, NULL}}),
                     0);
    ck_assert_str_eq(request->method_text.ptr, "POST");
    ck_assert_int_eq(request->method, METHOD_POST);
    ck_assert_str_eq(request->target.ptr, "/a%20b?x=1&y=?");
    ck_assert_str_eq(request->scheme.ptr, "https");
    ck_assert_str_eq(request->host.ptr, "localhost:8443");
    ck_assert_uint_eq(request->raw_path.len, 6);
    ck_assert_str_eq(request->raw_query.ptr, "x=1&y=?");
    ck_assert_str_eq(request->fields[0].name.ptr, "host");
    ck_assert_str_eq(request->fields[0].value.ptr, "localhost:8443");
    ck_assert_str_eq(request->fields[1].name.ptr, "accept");
    ck_assert_uint_eq(request->field_count, 3);
    ck_assert(head.has_length);
    ck_assert_uint_eq(head.length, 12);
}
END_TEST

START_TEST(case_17_cookie_fields_are_joined)
{
    ck_assert_int_eq(take((struct pair[]){GET,
                                          {":path", "/"},
                                          {"cookie", "a=1"},
                                          {"accept", "*/*"},
                                          {"cookie", "b=2"},
                                          {"cookie", "s=abc"},
                                          {NULL, NULL}}),
                     0);
    ck_assert_uint_eq(request->field_count, 3);
    ck_assert_str_eq(field_of("cookie")->value.ptr, "a=1; b=2; s=abc");
}
END_TEST

START_TEST(case_56_host_and_authority)
{
    static const struct {
        const char *authority, *host;
        int status;
    } table[] = {
        {"a.test", NULL, 0},         {NULL, "a.test", 0},
        {"a.test", "a.test", 0},     {"a.test", "A.TEST", 0},
        {"a.test", "b.test", 400},   {"a.test", "a.test:443", 400},
        {NULL, NULL, 400},           {"u@a.test", NULL, 400},
        {"a b", NULL, 400},          {NULL, "a.test, b.test", 400},
        {"a.test:99999", NULL, 400}, {"[::1]:8443", NULL, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pair pairs[6] = {{":method", "GET"}, {":scheme", "https"}, {":path", "/"}};
        size_t count = 3;
        if (table[i].authority != NULL)
            pairs[count++] = (struct pair){":authority", table[i].authority};
        if (table[i].host != NULL)
            pairs[count++] = (struct pair){"host", table[i].host};
        begin();
        ck_assert_msg(take(pairs) == table[i].status, "row %zu", i);
        if (table[i].status == 0)
            ck_assert_ptr_nonnull(field_of("host"));
        end();
    }
}
END_TEST

START_TEST(targets)
{
    static const struct {
        const char *method, *path;
        int status;
    } table[] = {
        {"GET", "/", 0},       {"GET", "*", 400},     {"OPTIONS", "*", 0},    {"OPTIONS", "/x", 0},
        {"GET", "", 400},      {"GET", "x", 400},     {"GET", "/a#b", 400},   {"GET", "/a b", 400},
        {"GET", "/\xc3", 400}, {"GET", "/\x7f", 400}, {"CONNECT", "/x", 501}, {"GET", "http://a/", 400},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        begin();
        ck_assert_msg(take((struct pair[]){{":method", table[i].method},
                                           {":scheme", "https"},
                                           {":authority", "a.test"},
                                           {":path", table[i].path},
                                           {NULL, NULL}}) == table[i].status,
                      "row %zu", i);
        end();
    }
}
END_TEST

START_TEST(connect_has_neither_path_nor_scheme)
{
    ck_assert_int_eq(take((struct pair[]){{":method", "CONNECT"}, {":authority", "a:1"}, {NULL, NULL}}), 501);
    ck_assert_str_eq(request->target.ptr, "");
    ck_assert_str_eq(request->scheme.ptr, "");
}
END_TEST

START_TEST(odd_pseudo_fields)
{
    ck_assert_int_eq(take((struct pair[]){GET, {":path", "/"}, {":protocol", "x"}, {NULL, NULL}}), 400);
    end();
    begin();
    ck_assert_int_eq(
        take((struct pair[]){
            {":method", "GET"}, {":scheme", "ftp"}, {":authority", "a"}, {":path", "/"}, {NULL, NULL}}),
        400);
}
END_TEST

START_TEST(case_41_lengths)
{
    static const struct {
        const char *text;
        int status;
        uint64_t length;
    } table[] = {{"0", 0, 0},
                 {"3", 0, 3},
                 {"007", 0, 7},
                 {"999999999999999999", 0, 999999999999999999},
                 {"", 400, 0},
                 {"+3", 400, 0},
                 {"-1", 400, 0},
                 {"0x3", 400, 0},
                 {"3 ", 400, 0},
                 {"3, 3", 400, 0},
                 {"18446744073709551616", 400, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        begin();
        ck_assert_msg(
            take((struct pair[]){GET, {":path", "/"}, {"content-length", table[i].text}, {NULL, NULL}}) ==
                table[i].status,
            "row %zu", i);
        if (table[i].status == 0)
            ck_assert_uint_eq(head.length, table[i].length);
        end();
    }
}
END_TEST

START_TEST(case_41_two_lengths)
{
    ck_assert_int_eq(
        take((struct pair[]){
            GET, {":path", "/"}, {"content-length", "3"}, {"content-length", "3"}, {NULL, NULL}}),
        400);
}
END_TEST

START_TEST(expectations)
{
    ck_assert_int_eq(take((struct pair[]){GET, {":path", "/"}, {"expect", "100-continue"}, {NULL, NULL}}), 0);
    ck_assert(request->expects_continue);
    end();
    begin();
    ck_assert_int_eq(take((struct pair[]){GET, {":path", "/"}, {"expect", "tea"}, {NULL, NULL}}), 417);
}
END_TEST

static int with_fields(int count, const char *value)
{
    char name[32];
    begin();
    http2_head_add(&head, request, cg_string(":method"), cg_string("GET"), LIMIT * 4);
    http2_head_add(&head, request, cg_string(":scheme"), cg_string("https"), LIMIT * 4);
    http2_head_add(&head, request, cg_string(":path"), cg_string("/"), LIMIT * 4);
    http2_head_add(&head, request, cg_string("host"), cg_string("a.test"), LIMIT * 4);
    for (int i = 1; i < count; i++) {
        snprintf(name, sizeof name, "x-%d", i);
        http2_head_add(&head, request, cg_string(name), cg_string(value), LIMIT * 4);
    }
    int status = http2_head_finish(&head, request);
    ck_assert_uint_le(request->field_count, HEAD_MAX_FIELDS);
    end();
    return status;
}

START_TEST(too_many_fields)
{
    ck_assert_int_eq(with_fields(HEAD_MAX_FIELDS, "v"), 0);
    ck_assert_int_eq(with_fields(HEAD_MAX_FIELDS + 1, "v"), 431);
    ck_assert_int_eq(with_fields(5000, "v"), 431);
}
END_TEST

START_TEST(too_many_bytes)
{
    char value[LIMIT];
    memset(value, 'a', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    ck_assert_int_eq(with_fields(3, value), 0);
    ck_assert_int_eq(with_fields(5, value), 431);
}
END_TEST

/* A refused request can be answered: nothing of it is missing. */
START_TEST(refusals_are_complete_requests)
{
    char path[2 * LIMIT];
    memset(path, '/', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    ck_assert_int_eq(take((struct pair[]){{":method", "HEAD"}, {":path", path}, {NULL, NULL}}), 431);
    ck_assert_int_eq(request->method, METHOD_HEAD);
    ck_assert_str_eq(request->target.ptr, "");
    ck_assert_str_eq(request->host.ptr, "");
    ck_assert_uint_eq(request->raw_path.len, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http2_head");
    TCase *single = tcase_create("single"), *table = tcase_create("table");
    tcase_add_checked_fixture(single, begin, end);
    tcase_add_test(single, looks_like_any_other_request);
    tcase_add_test(single, case_17_cookie_fields_are_joined);
    tcase_add_test(single, connect_has_neither_path_nor_scheme);
    tcase_add_test(single, odd_pseudo_fields);
    tcase_add_test(single, case_41_two_lengths);
    tcase_add_test(single, expectations);
    tcase_add_test(single, refusals_are_complete_requests);
    tcase_add_test(table, case_56_host_and_authority);
    tcase_add_test(table, targets);
    tcase_add_test(table, case_41_lengths);
    tcase_add_test(table, too_many_fields);
    tcase_add_test(table, too_many_bytes);
    suite_add_tcase(suite, single);
    suite_add_tcase(suite, table);
    return suite_end(suite);
}
