/* Clients that take too long: each ends after its own time, is told so where it can be, and is counted. */
#include "harness.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST "Host: x.test\r\n"
#define LARGE_SIZE (24 << 20) /* more than the kernel keeps for a client that does not read */
#define ENDLESS 4000          /* pieces of a trickle, after which the server seems to wait for ever */

static const char *large;

/* One loop, so that there is one line of counts. */
static struct server *start(const char *const environment[])
{
    const char *all[16] = {"THREADS=1", "VERBOSE=1"};
    struct folder *folder = folder_create();
    large = bytes_make(LARGE_SIZE, 1);
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_write(folder, "public/page.html", large, 7000);
    folder_write(folder, "public/large.bin", large, LARGE_SIZE);
    folder_add_function(folder, "tests/e2e/functions/calls.c", "calls");
    folder_add_function(folder, "tests/e2e/functions/stream.c", "stream");
    for (size_t i = 0; environment[i] != NULL; i++)
        all[i + 2] = environment[i];
    return server_start(folder, all);
}

/* Stops it; its loop then has to have counted this: timeouts "head 0, body 0, write 0, idle 0" and refusals
   "400 0, 408 0, ...". */
static void stop(struct server *server, const char *timeouts, const char *refusals)
{
    server_stop(server);
    const char *line = strstr(server_errors(server), "loop 0: ");
    ck_assert_ptr_nonnull(line);
    ck_assert_msg(strstr(line, text_print("timeouts: %s;", timeouts)) != NULL, "not %s: %s", timeouts, line);
    ck_assert_msg(strstr(line, text_print("refused: %s", refusals)) != NULL, "not %s: %s", refusals, line);
}

static long calls(struct server *server)
{
    return strtol(client_get(server, HTTP1, "/api/calls")->body, NULL, 10);
}

/* Sends the text again and again until the server says something. */
static void trickle(struct wire *wire, const char *text)
{
    int pieces = 0;
    do
        wire_print(wire, "%s", text);
    while (wire_silent(wire, 10) && ++pieces < ENDLESS);
    ck_assert_int_lt(pieces, ENDLESS);
}

static void expect_408(struct wire *wire)
{
    struct answer *answer = wire_answer(wire, "POST");
    answer_expect(answer, 408);
    answer_expect_field(answer, "connection", "close");
    wire_expect_end(wire);
    wire_close(wire);
}

START_TEST(case_52_a_head_that_stops)
{
    static const char *const starts[] = {"G", "\r\n", "GET / HTTP/1.1\r\n",
                                         "GET / HTTP/1.1\r\n" HOST "X: y\r\n"};
    struct server *server = start((const char *const[]){"HEADER_TIMEOUT=300", NULL});
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "%s", starts[i]);
        expect_408(wire);
    }
    stop(server, "head 4, body 0, write 0, idle 0", "400 0, 408 4");
}
END_TEST

START_TEST(case_52_bytes_do_not_extend_it)
{
    struct server *server = start((const char *const[]){"HEADER_TIMEOUT=300", NULL});
    struct wire *fresh = wire_open(server->port), *used = wire_open(server->port);
    wire_print(fresh, "GET / HTTP/1.1\r\n" HOST "X: ");
    trickle(fresh, "y");
    expect_408(fresh);
    wire_print(used, "GET / HTTP/1.1\r\n" HOST "\r\n");
    answer_expect(wire_answer(used, "GET"), 200);
    trickle(used, "G");
    expect_408(used);
    stop(server, "head 2, body 0, write 0, idle 0", "400 0, 408 2");
}
END_TEST

START_TEST(case_52_connections_that_say_nothing)
{
    struct server *server = start((const char *const[]){"IDLE_TIMEOUT=300", NULL});
    struct wire *fresh = wire_open(server->port), *used = wire_open(server->port);
    wire_print(used, "GET / HTTP/1.1\r\n" HOST "\r\n");
    answer_expect(wire_answer(used, "GET"), 200);
    wire_expect_end(used);
    wire_expect_end(fresh);
    wire_close(fresh);
    wire_close(used);
    stop(server, "head 0, body 0, write 0, idle 2", "400 0, 408 0");
}
END_TEST

START_TEST(case_47_a_body_that_stops)
{
    static const char *const starts[] = {"Content-Length: 10\r\n\r\n", "Content-Length: 10\r\n\r\nabc",
                                         "Transfer-Encoding: chunked\r\n\r\n",
                                         "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"};
    struct server *server = start((const char *const[]){"BODY_TIMEOUT=300", NULL});
    long before = calls(server);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "POST /api/%s HTTP/1.1\r\n" HOST "%s", i % 2 ? "calls" : "stream", starts[i]);
        expect_408(wire);
    }
    ck_assert_int_eq(calls(server), before);
    stop(server, "head 0, body 4, write 0, idle 0", "400 0, 408 4");
}
END_TEST

/* Longer than the head and an idle connection may take, and without a rate: each byte buys time. */
START_TEST(case_47_a_slow_body_is_taken)
{
    struct server *server = start((const char *const[]){"HEADER_TIMEOUT=500", "IDLE_TIMEOUT=500", NULL});
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "POST /api/stream HTTP/1.1\r\n" HOST "Content-Length: 30\r\n\r\n");
    for (int i = 0; i < 30; i++) {
        pause_ms(40);
        wire_print(wire, "x");
    }
    answer_expect(wire_answer(wire, "POST"), 200);
    wire_close(wire);
    stop(server, "head 0, body 0, write 0, idle 0", "400 0, 408 0");
}
END_TEST

START_TEST(a_body_below_the_rate_ends)
{
    static const char *const lengths[][2] = {{"Content-Length: 1000000", "x"},
                                             {"Content-Length: 60000", "x"},
                                             {"Transfer-Encoding: chunked", "1\r\nx\r\n"}};
    struct server *server = start((const char *const[]){"MIN_RATE_AFTER=200", "BODY_MIN_RATE=512k", NULL});
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "POST /api/stream HTTP/1.1\r\n" HOST "%s\r\n\r\n", lengths[i][0]);
        trickle(wire, lengths[i][1]);
        expect_408(wire);
    }
    stop(server, "head 0, body 3, write 0, idle 0", "400 0, 408 3");
}
END_TEST

START_TEST(without_a_rate_a_trickle_goes_on)
{
    struct server *server = start((const char *const[]){"MIN_RATE_AFTER=100", "BODY_MIN_RATE=0", NULL});
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "POST /api/stream HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 50; i++) {
        wire_print(wire, "x");
        ck_assert(wire_silent(wire, 10));
    }
    wire_close(wire);
    stop(server, "head 0, body 0, write 0, idle 0", "400 0, 408 0");
}
END_TEST

/* A connection whose window stays small. */
static int open_narrow(const struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = 65536;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static int ask_for_large(const struct server *server)
{
    static const char request[] = "GET /large.bin HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
    int fd = open_narrow(server);
    ck_assert_int_eq(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    return fd;
}

START_TEST(a_client_that_does_not_read_is_reset)
{
    struct server *server = start((const char *const[]){"WRITE_TIMEOUT=300", NULL});
    struct pollfd lost = {.fd = ask_for_large(server)};
    ck_assert_int_eq(poll(&lost, 1, 40000), 1);
    ck_assert(lost.revents & POLLERR);
    close(lost.fd);
    stop(server, "head 0, body 0, write 1, idle 0", "400 0, 408 0");
}
END_TEST

/* Reads len bytes at a time, with pauses: how many come before the end. */
static size_t read_slowly(int fd, size_t len, int pause)
{
    char *piece = malloc(len);
    size_t total = 0;
    ssize_t got;
    while ((got = recv(fd, piece, len, 0)) > 0) {
        total += (size_t)got;
        pause_ms(pause);
    }
    close(fd);
    free(piece);
    return total;
}

START_TEST(a_client_that_only_asks_is_reset)
{
    static const char request[] = "GET /page.html HTTP/1.1\r\n" HOST "\r\n";
    struct server *server = start((const char *const[]){"IDLE_TIMEOUT=500", NULL});
    struct pollfd state = {.fd = open_narrow(server), .events = POLLOUT};
    while (poll(&state, 1, 40000) == 1 && !(state.revents & (POLLERR | POLLHUP)))
        (void)!send(state.fd, request, sizeof request - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    ck_assert(state.revents & (POLLERR | POLLHUP));
    close(state.fd);
    stop(server, "head 0, body 0, write 1, idle 0", "400 0, 408 0");
}
END_TEST

START_TEST(a_client_that_reads_below_the_rate_is_reset)
{
    struct server *server =
        start((const char *const[]){"WRITE_TIMEOUT=400", "WRITE_MIN_RATE=1GB", "MIN_RATE_AFTER=200", NULL});
    ck_assert_uint_lt(read_slowly(ask_for_large(server), 16384, 20), LARGE_SIZE);
    stop(server, "head 0, body 0, write 1, idle 0", "400 0, 408 0");
}
END_TEST

/* Far longer than the timeout in all, but never that long without a byte. */
START_TEST(a_client_that_reads_slowly_gets_everything)
{
    struct server *server = start((const char *const[]){"WRITE_TIMEOUT=1s", "IDLE_TIMEOUT=1s", NULL});
    ck_assert_uint_gt(read_slowly(ask_for_large(server), 65536, 5), LARGE_SIZE);
    stop(server, "head 0, body 0, write 0, idle 0", "400 0, 408 0");
}
END_TEST

START_TEST(refusals_are_counted)
{
    struct server *server = start((const char *const[]){"HEADER_LIMIT=2k", "BODY_LIMIT=10", NULL});
    const char *const long_name = bytes_make(4096, 1);
    char *text = malloc(4097);
    for (int i = 0; i < 4096; i++)
        text[i] = (char)('a' + (unsigned char)long_name[i] % 26);
    text[4096] = '\0';
    const char *const requests[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "A : b\r\n\r\n",
        "POST /api/calls HTTP/1.1\r\n" HOST "Content-Length: 11\r\n\r\n",
        "GET / HTTP/7.1\r\n" HOST "\r\n",
        text_print("GET / HTTP/1.1\r\n" HOST "X: %s\r\n\r\n", text),
        "POST /api/calls HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        wire_once(server->port, requests[i], strlen(requests[i]));
    stop(server, "head 0, body 0, write 0, idle 0", "400 2, 408 0, 413 1, 414 0, 431 1, 501 1, 505 1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deadline");
    TCase *deadlines = harness_case(suite, "deadlines", NULL, NULL);
    tcase_add_test(deadlines, case_52_a_head_that_stops);
    tcase_add_test(deadlines, case_52_bytes_do_not_extend_it);
    tcase_add_test(deadlines, case_52_connections_that_say_nothing);
    tcase_add_test(deadlines, case_47_a_body_that_stops);
    tcase_add_test(deadlines, case_47_a_slow_body_is_taken);
    tcase_add_test(deadlines, a_body_below_the_rate_ends);
    tcase_add_test(deadlines, without_a_rate_a_trickle_goes_on);
    tcase_add_test(deadlines, a_client_that_does_not_read_is_reset);
    tcase_add_test(deadlines, a_client_that_only_asks_is_reset);
    tcase_add_test(deadlines, a_client_that_reads_below_the_rate_is_reset);
    tcase_add_test(deadlines, a_client_that_reads_slowly_gets_everything);
    tcase_add_test(deadlines, refusals_are_counted);
    return harness_run(suite);
}
