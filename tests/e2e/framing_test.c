/* HTTP/1.1 by hand: which heads and bodies are taken, and where a request ends. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define BODY_LIMIT 1048576
#define HOST "Host: x.test\r\n"
#define SMUGGLED "POST /api/calls HTTP/1.1\r\nHost: x.test\r\nContent-Length: 0\r\n\r\n"

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_print(folder, "public/b.txt", "bbb");
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/calls.c", "calls");
    server = server_start(folder, (const char *const[]){"BODY_LIMIT=1048576", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static long calls(void)
{
    return strtol(client_get(server, HTTP1, "/api/calls")->body, NULL, 10);
}

static struct answer *once(const char *text)
{
    return wire_once(server->port, text, strlen(text));
}

/* Refused with one answer and the end of the connection; nothing in it is run. */
static void expect_refused(const char *bytes, size_t len)
{
    long before = calls();
    struct answer *answer = wire_once(server->port, bytes, len);
    ck_assert_msg(answer->status >= 400 && answer->status < 500, "%.*s\nis answered %s", (int)len, bytes,
                  answer->head);
    answer_expect_field(answer, "connection", "close");
    ck_assert_msg(calls() == before, "%.*s\nran something", (int)len, bytes);
}

static void expect_body_hex(const struct answer *answer, const char *hex)
{
    answer_expect(answer, 200);
    json_t *event = answer_json(answer);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(event, "body"), "hex")), hex);
    json_decref(event);
}

START_TEST(case_41_conflicting_content_length)
{
    static const char *const refused[] = {
        "Content-Length: 0\r\nContent-Length: 63",
        "Content-Length: 63\r\nContent-Length: 0",
        "Content-Length: 63\r\nContent-Length: 063",
        "Content-Length: 0, 63",
        "Content-Length: +3",
        "Content-Length: -1",
        "Content-Length: 0x3",
        "Content-Length: 3 3",
        "Content-Length: 12345678901234567890",
        "Content-Length: 99999999999999999999",
        "Content-Length:",
        "Content-Length: 3;",
        "Content-Length: 3.0",
        "Content-Length: \"3\"",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = text_print("POST /api/calls HTTP/1.1\r\n" HOST "%s\r\n\r\n" SMUGGLED, refused[i]);
        expect_refused(text, strlen(text));
    }
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "POST /api/echo HTTP/1.1\r\n" HOST "Content-Length: 3 \t\r\n\r\nabc");
    expect_body_hex(wire_answer(wire, "POST"), "616263");
    wire_close(wire);
}
END_TEST

START_TEST(transfer_encoding_that_is_not_chunked_alone)
{
    static const char *const refused[] = {
        "Transfer-Encoding: chunked\r\nContent-Length: 3",
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding:",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked\x0b",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text =
            text_print("POST /api/echo HTTP/1.1\r\n" HOST "%s\r\n\r\n0\r\n\r\n" SMUGGLED, refused[i]);
        long before = calls();
        struct answer *answer = wire_once(server->port, text, strlen(text));
        ck_assert_msg(answer->status == 400 || answer->status == 501, "%s\nis answered %s", text,
                      answer->head);
        ck_assert_int_eq(calls(), before);
    }
    const char *old = "POST /api/echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED;
    expect_refused(old, strlen(old));
}
END_TEST

START_TEST(case_43_chunk_framing)
{
    static const char *const refused[] = {
        "5zz\r\nhello\r\n0\r\n\r\n",
        "5 0\r\nhello\r\n0\r\n\r\n",
        "5\nhello\n0\n\n",
        "5\r\nhello\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "-1\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffff\r\nhello",
        "fffffffffffffffff\r\nhello",
        "00000000000000005\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        ";x\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhelloxx0\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "5\rhello\r\n0\r\n\r\n",
        "0\r\nno colon\r\n\r\n",
        "0\r\nX: y\n\r\n",
        "0\r\n X: y\r\n\r\n",
        "g\r\n",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = text_print(
            "POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n%s" SMUGGLED, refused[i]);
        expect_refused(text, strlen(text));
    }
}
END_TEST

START_TEST(case_43_extensions_and_trailers)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire,
               "POST /api/echo HTTP/1.1\r\n" HOST "transfer-encoding: Chunked\r\n\r\n"
               "5;ext=1\r\nhello\r\n0A\r\n0123456789\r\n000;x=\"a b\"\r\nX-Trailer: y\r\nHost: evil\r\n\r\n");
    struct answer *answer = wire_answer(wire, "POST");
    expect_body_hex(answer, "68656c6c6f30313233343536373839");
    ck_assert_ptr_null(strstr(answer->body, "x-trailer"));
    ck_assert_ptr_null(strstr(answer->body, "evil"));
    wire_close(wire);
}
END_TEST

START_TEST(case_43_a_huge_extension_is_refused)
{
    size_t len = 1 << 20;
    char *extension = malloc(len + 1);
    memset(extension, 'e', len);
    extension[len] = '\0';
    char *text =
        text_print("POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5;%s\r\nhello\r\n"
                   "0\r\n\r\n",
                   extension);
    expect_refused(text, strlen(text));
    char *trailer = text_print(
        "POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: %s\r\n\r\n", extension);
    expect_refused(trailer, strlen(trailer));
}
END_TEST

static void expect_echoed_whole(size_t len)
{
    char *body = bytes_make(len, 1);
    struct answer *answer = client_post(server, HTTP1, "/api/echo", "application/octet-stream", body, len);
    answer_expect(answer, 200);
    json_t *told = json_object_get(answer_json(answer), "body");
    ck_assert_int_eq(json_integer_value(json_object_get(told, "size")), (json_int_t)len);
    ck_assert_str_eq(json_string_value(json_object_get(told, "digest")), bytes_digest(body, len));
}

START_TEST(bodies_up_to_the_limit)
{
    static const size_t sizes[] = {1, 4095, 4096, 65535, 65536, 65537, 300000, BODY_LIMIT - 1, BODY_LIMIT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_echoed_whole(sizes[i]);
}
END_TEST

START_TEST(case_44_too_large_is_413_and_readable)
{
    static const size_t sizes[] = {BODY_LIMIT + 1, 10 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *body = bytes_make(sizes[i], 2);
        for (int run = 0; run < 10; run++) {
            struct request request = {.path = "/api/echo", .body = body, .len = sizes[i], .expect = run % 2};
            struct answer *answer = client_send(server, &request);
            answer_expect(answer, 413);
            answer_expect_field(answer, "connection", "close");
        }
    }
}
END_TEST

START_TEST(case_44_too_large_in_chunks)
{
    size_t len = 4 << 20, chunk = 16384;
    char *body = bytes_make(chunk, 3);
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t sent = 0; sent < len; sent += chunk) {
        wire_print(wire, "%zx\r\n", chunk);
        wire_send(wire, body, chunk);
        wire_print(wire, "\r\n");
    }
    answer_expect(wire_answer(wire, "POST"), 413);
    wire_close(wire);
}
END_TEST

START_TEST(case_56_host_rules)
{
    static const char *const refused[] = {
        "",
        "Host: a\r\nHost: a\r\n",
        "Host: a\r\nHost: b\r\n",
        "Host: a b\r\n",
        "Host: x:99999\r\n",
        "Host: x:y\r\n",
        "Host: a/b\r\n",
        "Host: a@b\r\n",
        "Host: [::1\r\n",
        "Host: a,b\r\n",
        "Host: a\x01\r\n",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *text = text_print("GET /b.txt HTTP/1.1\r\n%s\r\n" SMUGGLED, refused[i]);
        struct answer *answer = once(text);
        ck_assert_msg(answer->status == 400, "%s\nis answered %s", text, answer->head);
    }
    static const char *const accepted[] = {"Host: a",         "Host: x.test:8080",        "Host: [::1]:80",
                                           "Host: 192.0.2.1", "Host: xn--bcher-kva.test", "HOST:a"};
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        answer_expect_text(
            once(text_print("GET /b.txt HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n", accepted[i])), 200,
            "bbb");
    answer_expect_text(once("GET /b.txt HTTP/1.0\r\n\r\n"), 200, "bbb");
}
END_TEST

START_TEST(malformed_heads)
{
    static const char *const refused[] = {
        "GET /b.txt HTTP/1.1\r\n" HOST "no colon\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X : space\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X\t: tab\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST ": nameless\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X: a\r\n folded\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n X: y\r\n" HOST "\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n",
        "GET /b.txt HTTP/1.1\n" HOST "\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X: bare\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X: \x01\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X: \x7f\r\n\r\n",
        "GET /b.txt HTTP/1.1\r\n" HOST "X(y): z\r\n\r\n",
        "GET  /b.txt HTTP/1.1\r\n" HOST "\r\n",
        "GET /b.txt  HTTP/1.1\r\n" HOST "\r\n",
        "GET /b.txt HTTP/1.1 \r\n" HOST "\r\n",
        "GET /b .txt HTTP/1.1\r\n" HOST "\r\n",
        "GET\t/b.txt\tHTTP/1.1\r\n" HOST "\r\n",
        "GET /b.txt HTTP/1.11\r\n" HOST "\r\n",
        "GET /b.txt http/1.1\r\n" HOST "\r\n",
        "GET /b.txt\r\n" HOST "\r\n",
        "G(T /b.txt HTTP/1.1\r\n" HOST "\r\n",
        "GET b.txt HTTP/1.1\r\n" HOST "\r\n",
        "GET * HTTP/1.1\r\n" HOST "\r\n",
        " GET /b.txt HTTP/1.1\r\n" HOST "\r\n",
        "\x16\x03\x01\x02\x01garbage\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct answer *answer = once(refused[i]);
        ck_assert_msg(answer->status == 400 || answer->status == 505, "%s\nis answered %s", refused[i],
                      answer->head);
    }
    static const char with_nul[] = "GET /b.txt HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n";
    expect_refused(with_nul, sizeof with_nul - 1);
    ck_assert_int_ge(once("GET /b.txt HTTP/2.0\r\n" HOST "\r\n")->status, 400);
    ck_assert_int_ge(once("GET /b.txt HTTP/3.1\r\n" HOST "\r\n")->status, 400);
    ck_assert_int_ge(once("CONNECT x.test:443 HTTP/1.1\r\n" HOST "\r\n")->status, 400);
}
END_TEST

START_TEST(targets_in_absolute_form)
{
    const char *text = "GET http://y.test/b.txt?q=1 HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
    answer_expect_text(once(text), 200, "bbb");
}
END_TEST

START_TEST(heads_above_the_limit)
{
    size_t len = 200000;
    char *large = malloc(len + 1);
    memset(large, 'a', len);
    large[len] = '\0';
    char *field = text_print("GET /b.txt HTTP/1.1\r\n" HOST "X: %s\r\n\r\n", large);
    char *target = text_print("GET /%s HTTP/1.1\r\n" HOST "\r\n", large);
    char *endless = text_print("GET /b.txt HTTP/1.1\r\n" HOST "X: %s", large);
    expect_refused(field, strlen(field));
    expect_refused(target, strlen(target));
    expect_refused(endless, strlen(endless));
    char *many = calloc(10001, 8), *end = many;
    for (int i = 0; i < 10000; i++)
        end = stpcpy(end, "X: y\r\n");
    char *fields = text_print("GET /b.txt HTTP/1.1\r\n" HOST "%s\r\n", many);
    expect_refused(fields, strlen(fields));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("framing");
    TCase *framing = harness_case(suite, "framing", setup, teardown);
    tcase_add_test(framing, case_41_conflicting_content_length);
    tcase_add_test(framing, transfer_encoding_that_is_not_chunked_alone);
    tcase_add_test(framing, case_43_chunk_framing);
    tcase_add_test(framing, case_43_extensions_and_trailers);
    tcase_add_test(framing, case_43_a_huge_extension_is_refused);
    tcase_add_test(framing, case_56_host_rules);
    tcase_add_test(framing, malformed_heads);
    tcase_add_test(framing, targets_in_absolute_form);
    tcase_add_test(framing, heads_above_the_limit);
    tcase_add_test(framing, bodies_up_to_the_limit);
    tcase_add_test(framing, case_44_too_large_is_413_and_readable);
    tcase_add_test(framing, case_44_too_large_in_chunks);
    return harness_run(suite);
}
