/* What a function sees of a request. */
#include "event.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static struct server *server, *tls_server;

static const char config[] = "REST:\n"
                             "  /api/echo: { path: echo.so }\n"
                             "  /api/users/:id/posts/:post: { path: echo.so }\n";

static struct folder *make_folder(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "apiconfig.yaml", "%s", config);
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/look.c", "look");
    return folder;
}

static void setup(void)
{
    server = server_start(make_folder(), (const char *const[]){NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static void setup_tls(void)
{
    struct folder *folder = make_folder();
    folder_add_certificate(folder);
    tls_server = server_start(
        folder, (const char *const[]){"SSL=1", "SSL_PORT=0", text_print("SSL_CERT=%s/cert.pem", folder->path),
                                      text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
}

static void teardown_tls(void)
{
    server_stop(tls_server);
}

static json_t *echo(const char *target)
{
    return event_of(client_get(server, HTTP1, target));
}

static json_t *echo_form(const char *body)
{
    return event_of(
        client_post(server, HTTP1, "/api/echo", "application/x-www-form-urlencoded", body, strlen(body)));
}

static json_t *echo_raw(const char *request, size_t len)
{
    return event_of(wire_once(server->port, request, len));
}

static const char *look_at(const char *what, const char *target, const char *type, const char *body)
{
    const char *const fields[] = {text_print("X-Look: %s", what),
                                  type ? text_print("Content-Type: %s", type) : NULL, NULL};
    struct answer *answer = client_send(
        server,
        &(struct request){.path = target, .fields = fields, .body = body, .len = body ? strlen(body) : 0});
    answer_expect(answer, 200);
    return answer->body;
}

START_TEST(what_an_event_holds)
{
    json_t *event = echo("/api/e%63ho?x=1&y=%20");
    event_expect_text(event, "method", "GET");
    event_expect_text(event, "path", "/api/echo");
    event_expect_text(event, "url", "/api/e%63ho?x=1&y=%20");
    event_expect_text(event, "query", "x=1&y=%20");
    event_expect_text(event, "host", text_print("127.0.0.1:%d", server->port));
    event_expect_text(event, "scheme", "http");
    event_expect_text(event, "ip", "127.0.0.1");
    event_expect_text(event, "route", "/api/echo");
    event_expect_body(event, "", 0);
    event_expect_fields(event, "cookies", (const char *const[]){NULL});
    event_expect_fields(event, "form", (const char *const[]){NULL});
    event_expect_file_count(event, 0);
}
END_TEST

START_TEST(what_an_event_holds_over_tls)
{
    for (enum transport transport = TLS1; transport <= HTTP2; transport++) {
        const char *const fields[] = {"X-Mixed-CASE: Value", NULL};
        json_t *event = event_of(client_send(
            tls_server,
            &(struct request){
                .transport = transport, .path = "/api/echo?a=b", .fields = fields, .body = "hi", .len = 2}));
        event_expect_text(event, "method", "POST");
        event_expect_text(event, "path", "/api/echo");
        event_expect_text(event, "url", "/api/echo?a=b");
        event_expect_text(event, "scheme", "https");
        event_expect_text(event, "ip", "127.0.0.1");
        event_expect_text(event, "host", text_print("127.0.0.1:%d", tls_server->tls_port));
        event_expect_field(event, "headers", "x-mixed-case", "Value");
        event_expect_body(event, "hi", 2);
    }
}
END_TEST

START_TEST(request_ids_differ_and_are_told)
{
    struct answer *one = client_get(server, HTTP1, "/api/echo"),
                  *two = client_get(server, HTTP1, "/api/echo");
    const char *id = json_string_value(json_object_get(event_of(one), "id"));
    ck_assert_str_ne(id, "");
    ck_assert_str_ne(id, json_string_value(json_object_get(event_of(two), "id")));
    answer_expect_field(one, "x-request-id", id);
}
END_TEST

START_TEST(header_fields_arrive_in_order_and_lower_case)
{
    static const char request[] =
        "GET /api/echo HTTP/1.1\r\nHOST: h.test\r\nX-B:  two  \r\nx-a: 1\r\nX-b:three\r\n"
        "X-Empty:\r\nX-Raw: \xe9\xff\r\nConnection: close\r\n\r\n";
    event_expect_fields(echo_raw(request, sizeof request - 1), "headers",
                        (const char *const[]){"host", "h.test", "x-b", "two", "x-a", "1", "x-b", "three",
                                              "x-empty", "", "x-raw", "hex:e9ff", "connection", "close",
                                              NULL});
    ck_assert_str_eq(look_at("header X-LOOK", "/api/look", NULL, NULL), "[header X-LOOK]");
    ck_assert_str_eq(look_at("header x-absent", "/api/look", NULL, NULL), "absent");
}
END_TEST

START_TEST(case_10_plus_is_a_space_only_in_the_query)
{
    json_t *event = echo("/api/users/a+b/posts/c%2Bd?x=a+b&y=a%2Bb&z=a%20b");
    event_expect_text(event, "path", "/api/users/a+b/posts/c+d");
    event_expect_text(event, "route", "/api/users/:id/posts/:post");
    event_expect_fields(event, "path_params", (const char *const[]){"id", "a+b", "post", "c+d", NULL});
    event_expect_text(event, "query", "x=a+b&y=a%2Bb&z=a%20b");
    event_expect_fields(event, "query_params",
                        (const char *const[]){"x", "a b", "y", "a+b", "z", "a b", NULL});
}
END_TEST

START_TEST(case_11_split_first_decode_once)
{
    static const char text[] = "a=b%3Dc&k%3D1=v&q=x%26y=2&d=%2541&e==&f=a=b";
    const char *const fields[] = {"a",   "b=c", "k=1", "v", "q",   "x&y=2", "d",
                                  "%41", "e",   "=",   "f", "a=b", NULL};
    event_expect_fields(echo(text_print("/api/echo?%s", text)), "query_params", fields);
    json_t *event = echo_form(text);
    event_expect_fields(event, "form", fields);
    event_expect_fields(event, "query_params", (const char *const[]){NULL});
}
END_TEST

START_TEST(case_12_malformed_escapes_stay)
{
    const char *const fields[] = {"a", "100%", "b", "%zz", "c", "%4", "d", "%", "e", "hex:e9", NULL};
    event_expect_fields(echo("/api/echo?a=100%&b=%zz&c=%4&d=%&e=%e9"), "query_params", fields);
    event_expect_fields(echo_form("a=100%&b=%zz&c=%4&d=%&e=%e9"), "form", fields);
    event_expect_fields(echo("/api/echo?%"), "query_params", (const char *const[]){"%", "", NULL});
}
END_TEST

START_TEST(case_13_absent_and_empty)
{
    static const char *const table[][2] = {{"noturl=1&note=url=2", "absent"},
                                           {"url=", "[]"},
                                           {"url", "[]"},
                                           {"=v", "absent"},
                                           {"&&a=1&", "absent"},
                                           {"urlx=3&url=4", "[4]"},
                                           {"URL=1", "absent"},
                                           {"url=1&url=2", "[2]"},
                                           {"u%72l=5", "[5]"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *target = text_print("/api/look?%s", table[i][0]);
        ck_assert_str_eq(look_at("query url", target, NULL, NULL), table[i][1]);
        ck_assert_str_eq(look_at("form url", "/api/look", "application/x-www-form-urlencoded", table[i][0]),
                         table[i][1]);
    }
    event_expect_fields(echo("/api/echo?=v"), "query_params", (const char *const[]){"", "v", NULL});
    event_expect_fields(echo("/api/echo?&&a=1&"), "query_params", (const char *const[]){"a", "1", NULL});
    event_expect_text(echo("/api/echo?"), "query", "");
}
END_TEST

START_TEST(case_15_a_semicolon_is_data)
{
    const char *const fields[] = {"link", "/ok", "utm", "1;link=/evil", NULL};
    event_expect_fields(echo("/api/echo?link=/ok&utm=1;link=/evil"), "query_params", fields);
    event_expect_fields(echo_form("link=/ok&utm=1;link=/evil"), "form", fields);
}
END_TEST

START_TEST(case_17_two_cookie_lines_are_joined)
{
    static const char request[] =
        "GET /api/echo HTTP/1.1\r\nHost: x\r\nCookie: a=1; b=2\r\nX: y\r\nCookie: s=abc\r\n"
        "Connection: close\r\n\r\n";
    json_t *event = echo_raw(request, sizeof request - 1);
    event_expect_fields(event, "cookies", (const char *const[]){"a", "1", "b", "2", "s", "abc", NULL});
    event_expect_field(event, "headers", "cookie", "a=1; b=2; s=abc");
}
END_TEST

START_TEST(case_17_cookies_split_by_http2)
{
    const char *const fields[] = {"cookie: a=1", "cookie: b=2", "cookie: s=abc", NULL};
    json_t *event = event_of(client_send(
        tls_server, &(struct request){.transport = HTTP2, .path = "/api/echo", .fields = fields}));
    event_expect_fields(event, "cookies", (const char *const[]){"a", "1", "b", "2", "s", "abc", NULL});
    event_expect_field(event, "headers", "cookie", "a=1; b=2; s=abc");
}
END_TEST

START_TEST(case_18_cookie_values_verbatim)
{
    const char *const fields[] = {"Cookie: t=YWJjZA==; u=a=b=c; v=; w=a%20b+c; q=\"x y\"", NULL};
    json_t *event = event_of(client_send(server, &(struct request){.path = "/api/echo", .fields = fields}));
    event_expect_fields(
        event, "cookies",
        (const char *const[]){"t", "YWJjZA==", "u", "a=b=c", "v", "", "w", "a%20b+c", "q", "\"x y\"", NULL});
}
END_TEST

START_TEST(case_20_odd_cookies)
{
    static const char request[] =
        "GET /api/echo HTTP/1.1\r\nHost: x\r\nCookie: test; a=b;; =v;  c = d ;e=;\r\n"
        "Cookie:\r\nCookie: x=1\t\r\nConnection: close\r\n\r\n";
    event_expect_fields(echo_raw(request, sizeof request - 1), "cookies",
                        (const char *const[]){"a", "b", "c", "d", "e", "", "x", "1", NULL});
}
END_TEST

START_TEST(case_22_the_first_cookie_wins)
{
    const char *const fields[] = {"Cookie: sid=path-specific; x=1; sid=root", "X-Look: cookie sid", NULL};
    struct answer *answer = client_send(server, &(struct request){.path = "/api/look", .fields = fields});
    answer_expect_text(answer, 200, "[path-specific]");
    answer = client_send(server, &(struct request){.path = "/api/echo", .fields = fields});
    event_expect_fields(event_of(answer), "cookies",
                        (const char *const[]){"sid", "path-specific", "x", "1", "sid", "root", NULL});
}
END_TEST

START_TEST(case_48_bodies_arrive_as_they_are)
{
    const char *const json[] = {"Content-Type: application/json", NULL}, *const html[] = {
                                                                             "Content-Type: text/html", NULL};
    json_t *event;
    event = event_of(client_send(
        server,
        &(struct request){.method = "DELETE", .path = "/api/echo", .fields = json, .body = "", .len = 0}));
    event_expect_body(event, "", 0);
    event = event_of(
        client_send(server, &(struct request){.method = "DELETE", .path = "/api/echo", .fields = json}));
    event_expect_body(event, "", 0);
    event = event_of(client_send(
        server, &(struct request){.method = "GET", .path = "/api/echo", .body = "abc", .len = 3}));
    event_expect_body(event, "abc", 3);
    event = event_of(client_send(
        server,
        &(struct request){.path = "/api/echo", .fields = html, .body = "\xff\xfe\x00\x80", .len = 4}));
    event_expect_body(event, "\xff\xfe\x00\x80", 4);
    event = event_of(client_post(server, HTTP1, "/api/echo", NULL, "x", 1));
    event_expect_body(event, "x", 1);
    event_expect_field(event, "headers", "content-type", NULL);
    char *bytes = bytes_make(300000, 48);
    event = event_of(client_post(server, HTTP1, "/api/echo", "application/json", bytes, 300000));
    event_expect_body(event, bytes, 300000);
}
END_TEST

START_TEST(forms_are_told_by_their_type)
{
    json_t *event = event_of(client_post(server, HTTP1, "/api/echo",
                                         "Application/X-WWW-Form-Urlencoded; charset=UTF-8", "a=1&a=2&b", 9));
    event_expect_fields(event, "form", (const char *const[]){"a", "1", "a", "2", "b", "", NULL});
    event_expect_body(event, "a=1&a=2&b", 9);
    event = event_of(client_post(server, HTTP1, "/api/echo", "text/plain", "a=1", 3));
    event_expect_fields(event, "form", (const char *const[]){NULL});
    ck_assert_str_eq(look_at("form a", "/api/look", "application/x-www-form-urlencoded", "a=1&a=2"), "[2]");
}
END_TEST

START_TEST(case_84_the_address_is_that_of_the_socket)
{
    const char *const fields[] = {"X-Forwarded-For: 198.51.100.9", "X-Real-IP: 198.51.100.9",
                                  "Forwarded: for=198.51.100.9", NULL};
    json_t *event = event_of(client_send(server, &(struct request){.path = "/api/echo", .fields = fields}));
    event_expect_text(event, "ip", "127.0.0.1");
    event_expect_field(event, "headers", "x-forwarded-for", "198.51.100.9");
}
END_TEST

START_TEST(case_48_a_forms_type_without_a_form)
{
    answer_expect(client_post(server, HTTP1, "/api/echo", "multipart/form-data; boundary=x", "", 0), 200);
    answer_expect(client_post(server, HTTP1, "/api/echo", "multipart/form-data; boundary=x", "x", 1), 400);
}
END_TEST

static void add_event(Suite *suite)
{
    TCase *event = harness_case(suite, "event", setup, teardown);
    tcase_add_test(event, what_an_event_holds);
    tcase_add_test(event, request_ids_differ_and_are_told);
    tcase_add_test(event, header_fields_arrive_in_order_and_lower_case);
    tcase_add_test(event, case_10_plus_is_a_space_only_in_the_query);
    tcase_add_test(event, case_11_split_first_decode_once);
    tcase_add_test(event, case_12_malformed_escapes_stay);
    tcase_add_test(event, case_13_absent_and_empty);
    tcase_add_test(event, case_15_a_semicolon_is_data);
    tcase_add_test(event, case_17_two_cookie_lines_are_joined);
    tcase_add_test(event, case_18_cookie_values_verbatim);
    tcase_add_test(event, case_20_odd_cookies);
    tcase_add_test(event, case_22_the_first_cookie_wins);
    tcase_add_test(event, case_48_bodies_arrive_as_they_are);
    tcase_add_test(event, case_48_a_forms_type_without_a_form);
    tcase_add_test(event, forms_are_told_by_their_type);
    tcase_add_test(event, case_84_the_address_is_that_of_the_socket);
}

int main(void)
{
    Suite *suite = suite_create("event");
    add_event(suite);
    TCase *tls = harness_case(suite, "tls", setup_tls, teardown_tls);
    tcase_add_test(tls, what_an_event_holds_over_tls);
    tcase_add_test(tls, case_17_cookies_split_by_http2);
    return harness_run(suite);
}
