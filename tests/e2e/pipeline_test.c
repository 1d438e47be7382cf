/* Several requests under way on one connection: how the answers leave, and how such a connection ends. */
#include "harness.h"
#include "reply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST "Host: x.test\r\n"
#define DEPTH 16
#define HANG 40 /* seconds */

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/b.txt", "bbb");
    folder_print(folder, "apiconfig.yaml",
                 "REST:\n"
                 "  /probe: { path: probe.so }\n"
                 "  /pool: { path: probe.so, mode: blocking }\n");
    folder_add_function(folder, "tests/e2e/functions/probe.c", "probe");
    server = server_start(folder, (const char *const[]){"HEADER_TIMEOUT=2000", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

/* A bare socket: a wire would hide in how many pieces bytes come, and how the connection ends. */
static int connect_to_server(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    struct timeval patience = {.tv_sec = HANG};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Requests that are answered each in another way, and the methods and statuses that go with them. */
static const struct {
    const char *method, *request, *body;
    int status;
} kinds[] = {
    {"GET", "GET /b.txt HTTP/1.1\r\n" HOST "\r\n", "bbb", 200},
    {"POST", "POST /probe HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd", "/probe ran 4", 200},
    {"HEAD", "HEAD /b.txt HTTP/1.1\r\n" HOST "\r\n", "", 200},
    {"POST", "POST /probe HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
     "/probe ran 3", 200},
    {"OPTIONS", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "", 204},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static char *burst(void)
{
    char *text = calloc(DEPTH, 128), *end = text;
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < DEPTH; i++)
        end = stpcpy(end, kinds[i % KINDS].request);
    return text;
}

/* How many whole answers there are; each must be the one to its request. */
static size_t count_answers(const char *bytes, size_t len)
{
    size_t count = 0, used;
    struct answer *answer;
    while ((used = reply_parse(bytes, len, false, kinds[count % KINDS].method, &answer)) > 0) {
        answer_expect_text(answer, kinds[count % KINDS].status, kinds[count % KINDS].body);
        bytes += used;
        len -= used;
        count++;
    }
    ck_assert_uint_eq(len, 0);
    return count;
}

/* The requests come in one read, so the answers are ready together; each written by itself, the reader would
   be woken by the first. */
START_TEST(case_51_answers_that_are_ready_together_leave_in_one_write)
{
    static char bytes[65536];
    int fd = connect_to_server();
    for (int run = 0; run < 50; run++) {
        send_text(fd, burst());
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        ck_assert_int_gt(got, 0);
        ck_assert_uint_eq(count_answers(bytes, (size_t)got), DEPTH);
    }
    close(fd);
}
END_TEST

START_TEST(case_51_a_function_of_the_pool_keeps_its_place)
{
    struct wire *wire = wire_open(server->port);
    for (int i = 0; i < DEPTH; i++)
        wire_print(wire, "POST /%s HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n%.*s",
                   i % 2 ? "probe" : "pool", i, i, "0123456789abcdef");
    for (int i = 0; i < DEPTH; i++)
        answer_expect_text(wire_answer(wire, "POST"), 200,
                           text_print("/%s ran %d", i % 2 ? "probe" : "pool", i));
    wire_close(wire);
}
END_TEST

START_TEST(case_55a_a_half_close_behind_the_last_of_many)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /pool HTTP/1.1\r\n" HOST "\r\nGET /probe HTTP/1.1\r\n" HOST "\r\n"
                     "GET /pool HTTP/1.1\r\n" HOST "\r\nGET /b.txt HTTP/1.1\r\n" HOST "\r\nGET /b.t");
    wire_half_close(wire);
    answer_expect_text(wire_answer(wire, "GET"), 200, "/pool ran 0");
    answer_expect_text(wire_answer(wire, "GET"), 200, "/probe ran 0");
    answer_expect_text(wire_answer(wire, "GET"), 200, "/pool ran 0");
    answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

/* The answers before the one that refuses are whole, and nothing behind it is run. */
START_TEST(case_51_a_refusal_ends_the_pipeline)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /b.txt HTTP/1.1\r\n" HOST "\r\nGET /pool HTTP/1.1\r\n" HOST "\r\n"
                     "GET /b.txt HTTP/1.1\r\n\r\nGET /b.txt HTTP/1.1\r\n" HOST "\r\n");
    answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    answer_expect_text(wire_answer(wire, "GET"), 200, "/pool ran 0");
    struct answer *last = wire_answer(wire, "GET");
    answer_expect(last, 400);
    answer_expect_field(last, "connection", "close");
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

/* A client that knows nothing of the end yet goes on sending: that must not cost it the answer, as a reset
   would. */
START_TEST(an_end_that_the_client_has_not_asked_for_is_no_reset)
{
    static const char *const last[] = {
        "GET /%zz HTTP/1.1\r\n" HOST "\r\n",
        "GET /b.txt HTTP/1.1\r\n\r\n",
        "POST /none HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 9999\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        char bytes[4096];
        int fd = connect_to_server();
        send_text(fd, last[i]);
        ck_assert_int_gt(recv(fd, bytes, sizeof bytes, 0), 0);
        send_text(fd, "GET /b.txt HTTP/1.1\r\n" HOST "\r\n");
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        ck_assert_msg(got == 0, "after %s: %s", last[i], got < 0 ? strerror(errno) : "another answer");
        send_text(fd, "GET /b.txt HTTP/1.1\r\n" HOST "\r\n");
        ck_assert_int_eq(recv(fd, bytes, sizeof bytes, 0), 0);
        close(fd);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tests = harness_case(suite, "pipelines", setup, teardown);
    tcase_add_test(tests, case_51_answers_that_are_ready_together_leave_in_one_write);
    tcase_add_test(tests, case_51_a_function_of_the_pool_keeps_its_place);
    tcase_add_test(tests, case_55a_a_half_close_behind_the_last_of_many);
    tcase_add_test(tests, case_51_a_refusal_ends_the_pipeline);
    tcase_add_test(tests, an_end_that_the_client_has_not_asked_for_is_no_reset);
    return harness_run(suite);
}
