/* What a function answers, as the client gets it; mostly over each transport (loop test). */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct server *plain, *tls;

static struct folder *make_folder(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "functions/page.html", "<p>{{x}}|{{{x}}}|{{ x }}|{{unknown}}</p>");
    folder_print(folder, "data/file.bin", "a file");
    folder_print(folder, ".state/secret", "a key");
    ck_assert_int_eq(symlink("/etc/passwd", folder_path(folder, "link")), 0);
    folder_print(folder, ".env", "FROM_FILE=of the file\nFROM_BOTH=of the file\n");
    folder_add_function(folder, "tests/e2e/functions/answers.c", "answers");
    folder_add_certificate(folder);
    return folder;
}

static void setup(void)
{
    struct folder *folder = make_folder();
    const char *state = text_print("STATE_DIR=%s/.state", folder->path);
    plain = server_start(folder, (const char *const[]){"FROM_BOTH=of the environment", state, NULL});
    tls = server_start(folder, (const char *const[]){"SSL=1", "SSL_PORT=0", state,
                                                     text_print("SSL_CERT=%s/cert.pem", folder->path),
                                                     text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
}

static void teardown(void)
{
    server_stop(plain);
    server_stop(tls);
}

static struct server *server_of(int transport)
{
    return transport == HTTP1 ? plain : tls;
}

static struct answer *ask(int transport, const char *query)
{
    return client_get(server_of(transport), (enum transport)transport,
                      text_print("/api/answers?do=%s", query));
}

static struct answer *send_json(const char *query, const char *json)
{
    return client_post(plain, HTTP1, text_print("/api/answers?do=%s", query), "application/json", json,
                       strlen(json));
}

START_TEST(nothing_written_is_204)
{
    struct answer *answer = ask(_i, "nothing");
    answer_expect_text(answer, 204, "");
    answer_expect_field(answer, "content-length", NULL);
    answer_expect_field(answer, "content-type", NULL);
    answer_expect_text(ask(_i, "status"), 202, "");
}
END_TEST

START_TEST(the_default_type_is_text)
{
    struct answer *answer = ask(_i, "print");
    answer_expect_bytes(answer, 200, "printed-1\0and written", 21);
    answer_expect_field(answer, "content-type", "text/plain; charset=utf-8");
    answer_expect_field(answer, "content-length", "21");
}
END_TEST

START_TEST(a_later_reply_replaces_the_earlier)
{
    struct answer *answer = ask(_i, "twice");
    answer_expect_text(answer, 201, "second");
    ck_assert_uint_eq(answer_count(answer, "content-type"), 1);
    ck_assert_int_eq(strncmp(answer_field(answer, "content-type"), "text/css", 8), 0);
    answer_expect_field(answer, "x-first", "stays");
}
END_TEST

/* case 108 */
static void expect_refused(int transport, const char *query)
{
    struct answer *answer = ask(transport, query);
    answer_expect(answer, 500);
    ck_assert_msg(strstr(answer->body, "never seen") == NULL, "%s: %s", query, answer->body);
    ck_assert_msg(strcasestr(answer->head, "\nset-cookie") == NULL &&
                      strcasestr(answer->head, "\nx:") == NULL &&
                      strcasestr(answer->head, "\nlocation") == NULL,
                  "%s: %s", query, answer->head);
}

START_TEST(case_108_values_that_would_inject)
{
    expect_refused(_i, "copy&next=/a%0d%0aSet-Cookie:%20x=1");
    expect_refused(_i, "copy&c=v%0aX:%20y");
    expect_refused(_i, "copy&next=/a%0d%0aSet-Cookie:%20x=1&c=v%0aX:%20y");
    expect_refused(_i, "copy&next=/a%0dX:%20y");
    expect_refused(_i, "copy&c=v;%20Domain=evil.test");
    expect_refused(_i, "redirect&next=/a%0d%0aSet-Cookie:%20x=1");
    expect_refused(_i, "redirect");
    expect_refused(_i, "null_value");
    expect_refused(_i, "bad_status");
    server_expect_log(server_of(_i), (const char *const[]){"error", "answers", "location", NULL});
    struct answer *good = ask(_i, "copy&next=/fine&c=v");
    answer_expect(good, 303);
    answer_expect_field(good, "location", "/fine");
    answer_expect_field(good, "set-cookie", "c=v");
}
END_TEST

START_TEST(case_108_names_that_are_no_tokens)
{
    static const char *const names[] = {"a%20b", "a:",     ":status", "",    "a%0d%0ab",
                                        "a%0ab", "%c3%a9", "a(b",     "a%09"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_refused(_i, text_print("field_name&name=%s", names[i]));
    answer_expect_field(ask(_i, "field_name&name=X-Good"), "x-good", "value");
}
END_TEST

START_TEST(case_109_repeated_fields)
{
    struct answer *answer = ask(_i, "cookies");
    answer_expect_text(answer, 200, "body");
    ck_assert_uint_eq(answer_count(answer, "set-cookie"), 2);
    ck_assert_uint_eq(strlen(answer_nth(answer, "set-cookie", 0)), strlen("large=; Path=/") + 4000);
    ck_assert_str_eq(answer_nth(answer, "set-cookie", 1),
                     "dated=1; Expires=Sun, 06 Nov 2094 08:49:37 GMT; HttpOnly");
    ck_assert_uint_eq(answer_count(answer, "x-many"), 2);
    ck_assert_str_eq(answer_nth(answer, "x-many", 0), "1");
    ck_assert_str_eq(answer_nth(answer, "x-many", 1), "2");
    ck_assert_uint_eq(answer_count(answer, "content-type"), 1);
    answer_expect_field(answer, "content-type", "text/css");
}
END_TEST

START_TEST(case_109_framing_is_the_servers)
{
    struct answer *answer = ask(_i, "framing");
    answer_expect_text(answer, 200, "ten bytes!");
    answer_expect_field(answer, "content-length", "10");
    answer_expect_field(answer, "transfer-encoding", NULL);
    answer_expect_field(answer, "keep-alive", NULL);
    answer_expect_field(answer, "upgrade", NULL);
    answer_expect_field(answer, "x-kept", "yes");
    const char *connection = answer_field(answer, "connection");
    ck_assert(connection == NULL || strcmp(connection, "x-secret") != 0);
}
END_TEST

START_TEST(large_answers_arrive_whole)
{
    static const size_t sizes[] = {0, 1, 16383, 16384, 65535, 65536, 1 << 20, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *expected = malloc(sizes[i] + 1);
        for (size_t k = 0; k < sizes[i]; k++)
            expected[k] = (char)(k * 31 + k / 251);
        answer_expect_bytes(ask(_i, text_print("large&size=%zu", sizes[i])), 200, expected, sizes[i]);
        free(expected);
    }
}
END_TEST

START_TEST(redirects)
{
    struct answer *answer = ask(_i, "redirect&next=https://y.test/a?b");
    answer_expect(answer, 302);
    answer_expect_field(answer, "location", "https://y.test/a?b");
    answer = ask(_i, "redirect&next=/a%20b/%C3%A9");
    answer_expect_field(answer, "location", "/a%20b/%C3%A9");
    answer_expect(ask(_i, "redirect&next=/&status=308"), 308);
    answer_expect(ask(_i, "redirect&next="), 500);
    answer_expect(ask(_i, "redirect&next=/&status=304"), 500);
    answer_expect(ask(_i, "redirect&next=/&status=200"), 500);
}
END_TEST

START_TEST(json_answers)
{
    struct answer *answer = ask(_i, "json");
    answer_expect(answer, 201);
    ck_assert_int_eq(strncmp(answer_field(answer, "content-type"), "application/json", 16), 0);
    json_t *json = answer_json(answer);
    ck_assert_str_eq(json_string_value(json_object_get(json, "name")), "\xc3\xa9 \"quoted\"");
    ck_assert_uint_eq(json_array_size(json_object_get(json, "list")), 2);
    answer_expect(ask(_i, "json_null"), 500);
}
END_TEST

START_TEST(json_bodies)
{
    answer_expect_text(send_json("json_whole", "{\"a\": 1, \"b\": [2]}"), 200, "2 members");
    answer_expect(send_json("json_whole", "{\"a\": 1,\n\"b\": oops}"), 400);
    ck_assert_ptr_nonnull(strstr(send_json("json_whole", "{\"a\": 1,\n\"b\": oops}")->body, "line 2"));
    answer_expect(send_json("json_whole", ""), 400);
    answer_expect(send_json("json_whole", "{} trailing"), 400);
    answer_expect_text(send_json("json_read", "{\"name\": \"ann\", \"age\": 7}"), 200, "ann is 7");
    struct answer *mismatch = send_json("json_read", "{\"name\": \"ann\", \"age\": \"old\"}");
    answer_expect(mismatch, 400);
    ck_assert_ptr_nonnull(strstr(mismatch->body, "age"));
    struct answer *missing = send_json("json_read", "{\"age\": 7}");
    answer_expect(missing, 400);
    ck_assert_ptr_nonnull(strstr(missing->body, "name"));
}
END_TEST

START_TEST(deep_json_is_refused_and_harms_nobody)
{
    size_t depth = 1000000;
    char *deep = malloc(depth + 1);
    memset(deep, '[', depth);
    deep[depth] = '\0';
    answer_expect(send_json("json_whole", deep), 400);
    answer_expect_text(send_json("json_whole", "{}"), 200, "0 members");
}
END_TEST

START_TEST(text_for_json_and_html)
{
    answer_expect_text(ask(HTTP1, "quote&text=a%22b%5c%0a%c3%a9%ff"), 200,
                       "[\"a\\\"b\\\\\\n\xc3\xa9\xef\xbf\xbd\"]");
    answer_expect_text(ask(HTTP1, "html&text=%3ca%20href=%22x%22%3e%26'"), 200,
                       "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}
END_TEST

START_TEST(templates)
{
    struct answer *answer = ask(_i, "template&x=%3cb%3e");
    answer_expect_text(answer, 200, "<p>&lt;b&gt;|<b>|&lt;b&gt;|</p>");
    answer_expect_field(answer, "content-type", "text/html; charset=utf-8");
    answer_expect(ask(_i, "no_template"), 500);
    server_expect_log(server_of(_i), (const char *const[]){"missing.html", NULL});
}
END_TEST

START_TEST(files_of_the_server)
{
    struct answer *answer = ask(_i, "file&path=data/file.bin");
    answer_expect_text(answer, 200, "a file");
    answer_expect_field(answer, "content-type", "application/x-test");
    answer_expect(ask(_i, "file&path=data/missing.bin"), 404);
    server_expect_log(server_of(_i), (const char *const[]){"data/missing.bin", NULL});
    static const char *const outside[] = {
        "../x", "data/../../x", "/etc/passwd", "link", ".state/secret", "data", ""};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        answer_expect(ask(_i, text_print("file&path=%s", outside[i])), 404);
    answer_expect_text(ask(_i, "file&path=data/../data/file.bin"), 200, "a file");
}
END_TEST

START_TEST(the_world)
{
    answer_expect_text(ask(HTTP1, "time_text"), 200, "Sun, 06 Nov 1994 08:49:37 GMT");
    answer_expect_text(ask(HTTP1, "env&name=FROM_FILE"), 200, "of the file");
    answer_expect_text(ask(HTTP1, "env&name=FROM_BOTH"), 200, "of the environment");
    answer_expect_text(ask(HTTP1, "env&name=FROM_NOWHERE"), 200, "(unset)");
}
END_TEST

START_TEST(case_107_one_line_of_log_whatever_is_said)
{
    answer_expect(ask(HTTP1, "log&text=one%0atwo%0d%1b%5bm"), 204);
    server_expect_log(plain, (const char *const[]){"the function says one", "two", NULL});
    ck_assert_ptr_null(strchr(server_errors(plain), '\x1b'));
    answer_expect(client_get(plain, HTTP1, "/x%0a2026-01-01T00:00:00.000Z%20error%20forged"), 404);
    ck_assert_ptr_null(strstr(server_errors(plain), "\n2026-01-01T00:00:00.000Z error forged"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("answer");
    TCase *answers = harness_case(suite, "answers", setup, teardown);
    tcase_add_loop_test(answers, nothing_written_is_204, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, the_default_type_is_text, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, a_later_reply_replaces_the_earlier, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, case_108_values_that_would_inject, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, case_108_names_that_are_no_tokens, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, case_109_repeated_fields, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, case_109_framing_is_the_servers, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, large_answers_arrive_whole, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, redirects, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, json_answers, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, templates, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(answers, files_of_the_server, HTTP1, HTTP2 + 1);
    tcase_add_test(answers, json_bodies);
    tcase_add_test(answers, deep_json_is_refused_and_harms_nobody);
    tcase_add_test(answers, text_for_json_and_html);
    tcase_add_test(answers, the_world);
    tcase_add_test(answers, case_107_one_line_of_log_whatever_is_said);
    return harness_run(suite);
}
