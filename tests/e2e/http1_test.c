/* HTTP/1.1 by hand: connections, what they carry and when they end. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST "Host: x.test\r\n"

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_print(folder, "public/b.txt", "bbb");
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/calls.c", "calls");
    folder_add_function(folder, "tests/e2e/functions/wait.c", "wait");
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

START_TEST(keep_alive_until_the_client_wants_no_more)
{
    struct wire *wire = wire_open(server->port);
    for (int i = 0; i < 3; i++) {
        wire_print(wire, "GET /b.txt HTTP/1.1\r\n" HOST "\r\n");
        answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    }
    wire_print(wire, "GET /b.txt HTTP/1.1\r\n" HOST "Connection: foo, CLOSE\r\n\r\n");
    struct answer *last = wire_answer(wire, "GET");
    answer_expect_text(last, 200, "bbb");
    answer_expect_field(last, "connection", "close");
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

START_TEST(every_answer_has_a_date)
{
    struct answer *file = client_get(server, HTTP1, "/b.txt"), *api = client_get(server, HTTP1, "/api/calls");
    ck_assert_uint_eq(answer_count(file, "date"), 1);
    ck_assert_uint_eq(answer_count(api, "date"), 1);
    ck_assert_uint_eq(strlen(answer_field(api, "date")), strlen("Sun, 06 Nov 1994 08:49:37 GMT"));
}
END_TEST

static const char burst[] = "GET /b.txt HTTP/1.1\r\n" HOST "\r\n"
                            "POST /api/echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd"
                            "HEAD /b.txt HTTP/1.1\r\n" HOST "\r\n"
                            "POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                            "3;x=\"y\"\r\nefg\r\n2\r\nhi\r\n0\r\nTrailer: t\r\n\r\n"
                            "GET /none HTTP/1.1\r\n" HOST "\r\n";

static void expect_body_hex(const struct answer *answer, const char *hex)
{
    answer_expect(answer, 200);
    json_t *event = answer_json(answer);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(event, "body"), "hex")), hex);
    json_decref(event);
}

static void expect_burst_answered(struct wire *wire)
{
    answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    expect_body_hex(wire_answer(wire, "POST"), "61626364");
    struct answer *head = wire_answer(wire, "HEAD");
    answer_expect_text(head, 200, "");
    answer_expect_field(head, "content-length", "3");
    expect_body_hex(wire_answer(wire, "POST"), "6566676869");
    answer_expect(wire_answer(wire, "GET"), 404);
    wire_close(wire);
}

START_TEST(case_51_pipelined_answers_come_in_order)
{
    struct wire *wire = wire_open(server->port);
    wire_send(wire, burst, sizeof burst - 1);
    expect_burst_answered(wire);
}
END_TEST

START_TEST(case_51_pipelined_requests_split_at_every_offset)
{
    for (size_t at = 1; at < sizeof burst - 1; at++) {
        struct wire *wire = wire_open(server->port);
        wire_send_split(wire, burst, sizeof burst - 1, at);
        expect_burst_answered(wire);
    }
}
END_TEST

START_TEST(requests_byte_by_byte)
{
    struct wire *wire = wire_open(server->port);
    for (size_t i = 0; i < sizeof burst - 1; i++)
        wire_send_split(wire, burst + i, 1, 1);
    expect_burst_answered(wire);
}
END_TEST

START_TEST(a_thousand_pipelined_requests)
{
    struct wire *wire = wire_open(server->port);
    for (int i = 0; i < 1000; i++)
        wire_print(wire, "GET /b.txt HTTP/1.1\r\n" HOST "X-Number: %d\r\n\r\n", i);
    for (int i = 0; i < 1000; i++)
        answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    ck_assert(wire_silent(wire, 0));
    wire_close(wire);
}
END_TEST

START_TEST(head_is_get_without_the_body)
{
    const char *const paths[] = {"/b.txt", "/", "/none"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "GET %s HTTP/1.1\r\n" HOST "\r\nHEAD %s HTTP/1.1\r\n" HOST "\r\n", paths[i],
                   paths[i]);
        struct answer *get = wire_answer(wire, "GET"), *head = wire_answer(wire, "HEAD");
        answer_expect_text(head, get->status, "");
        answer_expect_field(head, "content-length", answer_field(get, "content-length"));
        answer_expect_field(head, "content-type", answer_field(get, "content-type"));
        answer_expect_field(head, "etag", answer_field(get, "etag"));
        wire_print(wire, "GET /b.txt HTTP/1.1\r\n" HOST "\r\n");
        answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
        wire_close(wire);
    }
}
END_TEST

START_TEST(expect_100_is_answered_when_the_body_is_awaited)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "POST /api/echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    answer_expect(wire_answer(wire, "POST"), 100);
    wire_print(wire, "hi");
    expect_body_hex(wire_answer(wire, "POST"), "6869");
    wire_close(wire);
}
END_TEST

START_TEST(expect_100_is_not_answered_when_the_head_is_enough)
{
    static const char *const heads[][2] = {
        {"POST /api/echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n",
         "413"},
        {"POST /api/none HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", "404"},
        {"PUT /api/calls HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", "405"},
        {"POST /api/echo HTTP/1.1\r\n" HOST "Expect: 200-maybe\r\nContent-Length: 10\r\n\r\n", "417"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "%s", heads[i][0]);
        answer_expect(wire_answer(wire, "POST"), atoi(heads[i][1]));
        wire_close(wire);
    }
}
END_TEST

START_TEST(http_1_0_gets_one_answer_without_chunks)
{
    struct answer *answer = once("GET /b.txt HTTP/1.0\r\n\r\n");
    answer_expect_text(answer, 200, "bbb");
    answer = once("POST /api/echo HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi");
    expect_body_hex(answer, "6869");
    answer_expect_field(answer, "transfer-encoding", NULL);
}
END_TEST

START_TEST(http_1_0_keep_alive)
{
    struct wire *wire = wire_open(server->port);
    for (int i = 0; i < 2; i++) {
        wire_print(wire, "GET /b.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        struct answer *answer = wire_answer(wire, "GET");
        answer_expect_text(answer, 200, "bbb");
        ck_assert_ptr_nonnull(strcasestr(answer_field(answer, "connection"), "keep-alive"));
    }
    wire_close(wire);
}
END_TEST

START_TEST(case_54_half_closed_after_the_request)
{
    static const char *const requests[] = {
        "GET /b.txt HTTP/1.1\r\n" HOST "\r\n",
        "GET /api/echo HTTP/1.1\r\n" HOST "\r\n",
        "POST /api/echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd",
        "POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "%s", requests[i]);
        wire_half_close(wire);
        answer_expect(wire_answer(wire, "GET"), 200);
        wire_expect_end(wire);
        wire_close(wire);
    }
    struct wire *wire = wire_open(server->port);
    wire_send(wire, burst, sizeof burst - 1);
    wire_half_close(wire);
    expect_burst_answered(wire);
}
END_TEST

START_TEST(case_54_half_closed_within_the_body)
{
    static const char *const requests[] = {
        "POST /api/calls HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc",
        "POST /api/calls HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\n",
        "POST /api/calls HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "POST /api/calls HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "POST /api/calls HTTP/1.1\r\n" HOST "Content-Length: 0\r\n",
        "POST /api/ca",
    };
    long before = calls();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "%s", requests[i]);
        wire_half_close(wire);
        struct answer *answer = wire_answer_or_end(wire, "POST");
        ck_assert(answer == NULL || answer->status >= 400);
        wire_expect_end(wire);
        wire_close(wire);
    }
    ck_assert_int_eq(calls(), before);
}
END_TEST

START_TEST(case_70_tls_on_the_plain_port)
{
    static const char hello[] = "\x16\x03\x01\x00\xf4\x01\x00\x00\xf0\x03\x03"
                                "0123456789abcdef0123456789abcdef\x20";
    struct wire *wire = wire_open(server->port);
    wire_send(wire, hello, sizeof hello - 1);
    struct answer *answer = wire_answer_or_end(wire, "GET");
    ck_assert(answer == NULL || answer->status == 400);
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

START_TEST(clients_that_vanish_harm_nobody)
{
    for (size_t at = 0; at < sizeof burst; at += 7) {
        struct wire *wire = wire_open(server->port);
        wire_send(wire, burst, at);
        wire_reset(wire);
    }
    answer_expect_text(client_get(server, HTTP1, "/b.txt"), 200, "bbb");
}
END_TEST

/* What a client leaves behind when it goes while its function runs: nothing. One that only says that it has
   no more to send gets its answer. */
START_TEST(case_55_clients_that_leave_while_their_function_runs)
{
    for (int way = 0; way < 3; way++) {
        char *entered = text_print("%s/entered-%d", harness_folder(), way),
             *until = text_print("%s/until-%d", harness_folder(), way);
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "GET /api/wait?entered=%s&until=%s HTTP/1.1\r\n" HOST "\r\n", entered, until);
        while (access(entered, F_OK) != 0)
            pause_ms(1);
        if (way == 0)
            wire_close(wire);
        else if (way == 1)
            wire_reset(wire);
        else
            wire_half_close(wire);
        ck_assert_int_eq(symlink("/", until), 0);
        if (way == 2) {
            answer_expect(wire_answer(wire, "GET"), 200);
            wire_expect_end(wire);
        }
        answer_expect_text(client_get(server, HTTP1, "/b.txt"), 200, "bbb");
    }
}
END_TEST

static void add_connections(Suite *suite)
{
    TCase *connections = harness_case(suite, "connections", setup, teardown);
    tcase_add_test(connections, keep_alive_until_the_client_wants_no_more);
    tcase_add_test(connections, every_answer_has_a_date);
    tcase_add_test(connections, case_51_pipelined_answers_come_in_order);
    tcase_add_test(connections, case_51_pipelined_requests_split_at_every_offset);
    tcase_add_test(connections, requests_byte_by_byte);
    tcase_add_test(connections, a_thousand_pipelined_requests);
    tcase_add_test(connections, head_is_get_without_the_body);
    tcase_add_test(connections, expect_100_is_answered_when_the_body_is_awaited);
    tcase_add_test(connections, expect_100_is_not_answered_when_the_head_is_enough);
    tcase_add_test(connections, http_1_0_gets_one_answer_without_chunks);
    tcase_add_test(connections, http_1_0_keep_alive);
    tcase_add_test(connections, case_54_half_closed_after_the_request);
    tcase_add_test(connections, case_54_half_closed_within_the_body);
    tcase_add_test(connections, case_70_tls_on_the_plain_port);
    tcase_add_test(connections, clients_that_vanish_harm_nobody);
    tcase_add_test(connections, case_55_clients_that_leave_while_their_function_runs);
}

int main(void)
{
    Suite *suite = suite_create("http1");
    add_connections(suite);
    return harness_run(suite);
}
