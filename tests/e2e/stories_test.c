/* The functions of tests/stories do what their first lines say, over every transport; those that need what
   the server does not have yet are refused when they are loaded, and disturb nobody. */
#include "event.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static struct server *plain, *tls;

static struct folder *make_folder(void)
{
    static const char *const names[] = {"simple", "full", "template", NULL}, *const others[] = {
                                                                                 "upload", "notes",  "login",
                                                                                 "later",  "chat",   "news",
                                                                                 "slow",   "ingest", "crash",
                                                                                 NULL};
    struct folder *folder = folder_create();
    for (size_t i = 0; names[i] != NULL; i++)
        folder_add_function(folder, text_print("tests/stories/%s.c", names[i]),
                            text_print("tests/%s", names[i]));
    for (size_t i = 0; others[i] != NULL; i++)
        folder_add_function(folder, text_print("tests/stories/%s.c", others[i]), others[i]);
    struct folder project = {"tests/stories"};
    size_t len;
    char *page = folder_read(&project, "template.html", &len);
    folder_write(folder, "functions/tests/template.html", page, len);
    folder_print(folder, "apiconfig.yaml", "REST:\n  /api/notes/:key: { path: notes.so }\n");
    folder_add_certificate(folder);
    return folder;
}

static void setup(void)
{
    struct folder *folder = make_folder();
    plain = server_start(folder, (const char *const[]){NULL});
    tls = server_start(folder, (const char *const[]){"SSL=1", "SSL_PORT=0",
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

static struct answer *get(int transport, const char *path)
{
    return client_get(server_of(transport), (enum transport)transport, path);
}

static struct answer *ask(int transport, const char *method, const char *path, const char *field,
                          const char *body)
{
    const char *const fields[] = {field, NULL};
    return client_send(server_of(transport), &(struct request){.transport = (enum transport)transport,
                                                               .method = method,
                                                               .path = path,
                                                               .fields = fields,
                                                               .body = body,
                                                               .len = body ? strlen(body) : 0});
}

START_TEST(simple)
{
    struct answer *answer = get(_i, "/api/tests/simple");
    answer_expect(answer, 200);
    ck_assert_int_eq(strncmp(answer_field(answer, "content-type"), "text/html", 9), 0);
    ck_assert_int_eq(strncmp(answer->body, "Hello World! ", 13), 0);
    ck_assert_int_gt(strtoll(answer->body + 13, NULL, 10), 1600000000000);
}
END_TEST

START_TEST(full)
{
    struct answer *one = ask(_i, "POST", "/api/tests/full?a=b%20c", "X-Mine: yes", "the body");
    answer_expect(one, 200);
    static const char *const lines[] = {
        "Hello, World!\n",  "Method: POST\n",         "Path: /api/tests/full\n",
        "Host: 127.0.0.1:", "Remote IP: 127.0.0.1\n", "Query: a=b%20c\n",
        "x-mine: yes\n",    "Body: the body\n",       "Visits: "};
    const char *at = one->body;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        at = strstr(at, lines[i]);
        ck_assert_msg(at != NULL, "no %s in its place in\n%s", lines[i], one->body);
    }
    struct answer *two = get(_i, "/api/tests/full");
    ck_assert_int_eq(atoi(strstr(two->body, "Visits: ") + 8), atoi(strstr(one->body, "Visits: ") + 8) + 1);
}
END_TEST

START_TEST(template)
{
    struct answer *answer = get(_i, "/api/tests/template?name=%3cann%3e");
    answer_expect(answer, 200);
    ck_assert_ptr_nonnull(strstr(answer->body, "Hello &lt;ann&gt;, visit "));
    ck_assert_int_gt(atoi(strstr(answer->body, "visit ") + 6), 0);
    ck_assert_ptr_nonnull(strstr(get(_i, "/api/tests/template")->body, "Hello World, visit "));
}
END_TEST

START_TEST(upload)
{
    static const char body[] = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\n"
                               "Content-Type: application/x-test\r\n\r\n0123456789\r\n"
                               "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n";
    answer_expect_text(ask(_i, NULL, "/api/upload", "Content-Type: multipart/form-data; boundary=b", body),
                       200, "file f x.bin application/x-test 10 3031323334353637\nfield a=1\n");
}
END_TEST

START_TEST(notes)
{
    answer_expect(get(_i, "/api/notes/a%20key"), 404);
    answer_expect(ask(_i, "PUT", "/api/notes/a%20key", NULL, "first"), 204);
    answer_expect(ask(_i, "PUT", "/api/notes/a%20key", NULL, "a note"), 204);
    struct answer *answer = get(_i, "/api/notes/a%20key");
    answer_expect_text(answer, 200, "a note");
    answer_expect_field(answer, "content-type", "application/octet-stream");
    answer_expect(ask(_i, "DELETE", "/api/notes/a%20key", NULL, NULL), 204);
    answer_expect(ask(_i, "DELETE", "/api/notes/a%20key", NULL, NULL), 404);
    answer_expect(get(_i, "/api/notes/a%20key"), 404);
}
END_TEST

START_TEST(login)
{
    const char *form = "Content-Type: application/x-www-form-urlencoded";
    answer_expect(ask(_i, "POST", "/api/login", form, "other=1"), 400);
    struct answer *answer = ask(_i, "POST", "/api/login", form, "user=ann");
    answer_expect(answer, 303);
    answer_expect_field(answer, "location", "/");
    char *cookie = answer_field(answer, "set-cookie");
    ck_assert_int_eq(strncmp(cookie, "session=", 8), 0);
    ck_assert_ptr_nonnull(strstr(cookie, "; Path=/; HttpOnly; SameSite=Lax"));
    *strchr(cookie, ';') = '\0';
    ck_assert_ptr_null(strstr(cookie, "ann"));
    answer_expect_text(ask(_i, "GET", "/api/login", text_print("Cookie: %s", cookie), NULL), 200,
                       "hello ann\n");
    answer_expect(get(_i, "/api/login"), 401);
    answer_expect(ask(_i, "GET", "/api/login", "Cookie: session=", NULL), 401);
    for (size_t i = strlen("session="); i < strlen(cookie); i += 7) {
        char *forged = strdup(cookie);
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        answer_expect(ask(_i, "GET", "/api/login", text_print("Cookie: %s", forged), NULL), 401);
    }
}
END_TEST

START_TEST(ingest)
{
    answer_expect_text(ask(_i, "POST", "/api/ingest", NULL, "one\ntwo\nthree"), 200, "13 bytes, 2 lines\n");
    answer_expect_text(ask(_i, "POST", "/api/ingest", NULL, ""), 200, "0 bytes, 0 lines\n");
}
END_TEST

START_TEST(slow)
{
    answer_expect_text(get(_i, "/api/slow?ms=20"), 200, "slept 20 ms\n");
}
END_TEST

START_TEST(later)
{
    answer_expect_text(get(_i, "/api/later"), 200, "better late\n");
}
END_TEST

START_TEST(crash_answers_as_long_as_nobody_asks_for_one)
{
    answer_expect_text(get(_i, "/api/crash"), 200, "still here\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stories");
    TCase *stories = harness_case(suite, "stories", setup, teardown);
    tcase_add_loop_test(stories, simple, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, full, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, template, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, upload, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, notes, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, login, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, ingest, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, slow, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, later, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(stories, crash_answers_as_long_as_nobody_asks_for_one, HTTP1, HTTP2 + 1);
    return harness_run(suite);
}
