/* Who the client is, when others stand between. */
#include "event.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct server *trusting, *alone, *behind, *plain_behind;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    trusting = server_start(folder, (const char *const[]){"TRUSTED_PROXIES=127.0.0.0/8, 10.0.0.0/8", NULL});
    alone = server_start(folder, (const char *const[]){NULL});
    folder_add_certificate(folder);
    behind = server_start(
        folder, (const char *const[]){"PROXY_PROTOCOL=1", "HEADER_TIMEOUT=500ms", "SSL=1", "SSL_PORT=0",
                                      "PORT=0", text_print("SSL_CERT=%s/cert.pem", folder->path),
                                      text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
    plain_behind =
        server_start(folder, (const char *const[]){"PROXY_PROTOCOL=1", "HEADER_TIMEOUT=500ms", NULL});
}

static void teardown(void)
{
    server_stop(trusting);
    server_stop(alone);
    server_stop(behind);
    server_stop(plain_behind);
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

#define REQUEST "GET /api/echo HTTP/1.1\r\nHost: x.test\r\n\r\n"
#define V2 "\r\n\r\n\0\r\nQUIT\n"

static const struct {
    const char *header;
    size_t len;
    const char *ip;
} headers[] = {
#define HEADER(text, ip)           \
    {                              \
        text, sizeof(text) - 1, ip \
    }
    HEADER("PROXY UNKNOWN\r\n", "127.0.0.1"),
    HEADER("PROXY TCP4 198.51.100.7 192.0.2.1 5123 80\r\n", "198.51.100.7"),
    HEADER("PROXY TCP6 2001:db8::7 2001:db8::1 5123 80\r\n", "2001:db8::7"),
    HEADER(V2 "\x21\x11\x00\x10\xc6\x33\x64\x07\xc0\x00\x02\x01\x14\x03\x00\x50\x04\x00\x01\x00",
           "198.51.100.7"),
    HEADER(V2 "\x20\x11\x00\x0c\xc6\x33\x64\x07\xc0\x00\x02\x01\x14\x03\x00\x50", "127.0.0.1"),
};

START_TEST(case_88_the_header_tells_the_client)
{
    for (size_t at = 0; at <= headers[_i].len; at += at % 3 + 1) {
        struct wire *wire = wire_open(plain_behind->port);
        char *bytes = malloc(headers[_i].len + sizeof REQUEST);
        memcpy(bytes, headers[_i].header, headers[_i].len);
        memcpy(bytes + headers[_i].len, REQUEST, sizeof REQUEST - 1);
        wire_send_split(wire, bytes, headers[_i].len + sizeof REQUEST - 1, at);
        event_expect_text(event_of(wire_answer(wire, "GET")), "ip", headers[_i].ip);
        wire_send(wire, REQUEST, sizeof REQUEST - 1);
        event_expect_text(event_of(wire_answer(wire, "GET")), "ip", headers[_i].ip);
        wire_close(wire);
    }
}
END_TEST

START_TEST(case_88_over_tls)
{
    char *url = text_print("https://127.0.0.1:%d/api/echo", behind->tls_port),
         *body = text_print("/tmp/%d", getpid());
    run_command((const char *const[]){"curl", "-s", "-k", "--haproxy-protocol", "-o", body, url, NULL});
    struct folder tmp = {"/tmp"};
    size_t len;
    char *text = folder_read(&tmp, body + 5, &len);
    struct answer answer = {.status = 200, .body = text, .len = len};
    unlink(body);
    event_expect_text(event_of(&answer), "ip", "127.0.0.1");
    event_expect_text(event_of(&answer), "scheme", "https");
}
END_TEST

START_TEST(case_88_what_is_no_header_ends_the_connection)
{
    static const char *const others[] = {REQUEST, "PROXY TCP4 1.2.3.4\r\n", "\x16\x03\x01", "PROXY", ""};
    char long_line[201];
    memset(long_line, 'P', sizeof long_line);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct wire *wire = wire_open(plain_behind->port);
        wire_send(wire, others[i], strlen(others[i]));
        wire_expect_end(wire);
        wire_close(wire);
    }
    struct wire *wire = wire_open(plain_behind->port);
    wire_send(wire, long_line, 200);
    wire_expect_end(wire);
    wire_close(wire);
    server_expect_log(plain_behind, (const char *const[]){"without a PROXY header", NULL});
}
END_TEST

START_TEST(case_88_without_the_option_it_is_a_bad_request)
{
    static const char bytes[] = "PROXY TCP4 198.51.100.7 192.0.2.1 5123 80\r\n" REQUEST;
    answer_expect(wire_once(alone->port, bytes, sizeof bytes - 1), 400);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proxies");
    TCase *tests = harness_case(suite, "proxies", setup, teardown);
    tcase_add_test(tests, case_84_a_stranger_is_not_believed);
    tcase_add_test(tests, case_85_from_the_right);
    tcase_add_loop_test(tests, case_88_the_header_tells_the_client, 0,
                        (int)(sizeof headers / sizeof *headers));
    tcase_add_test(tests, case_88_over_tls);
    tcase_add_test(tests, case_88_what_is_no_header_ends_the_connection);
    tcase_add_test(tests, case_88_without_the_option_it_is_a_bad_request);
    return harness_run(suite);
}
