/* WebSockets over time: clients that do not read, that fall silent, that stay for ever; and the end of the
   server. */
#include "harness.h"
#include "site.h"
#include "socket.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUE 200000
#define MESSAGE 1000
#define ROUNDS 30000 /* of MESSAGE bytes: more than the kernel keeps for a client that does not read */

static struct site *site;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    folder_print(folder, "apiconfig.yaml",
                 "REST: { /api/socket: { path: socket.so, method: GET } }\n"
                 "WEBSOCKET:\n"
                 "  /echo: { path: socket.so, queueLimit: %d }\n"
                 "  /drop: { path: socket.so, queueLimit: %d, slow: drop }\n"
                 "  /live: { path: socket.so, pingInterval: 200ms, pongTimeout: 300ms }\n"
                 "  /pool: { path: socket.so, mode: blocking, pingInterval: 200ms, pongTimeout: 300ms }\n"
                 "  /idle: { path: socket.so, pingInterval: 100ms, idleTimeout: 500ms }\n",
                 QUEUE, QUEUE);
    site = site_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    site_stop(site);
}

static struct socket *open_at(int transport, const char *path)
{
    return site_socket(site, (enum transport)transport, path, "", NULL);
}

static long drained(int transport)
{
    long opened_count, closed_count, drained_count;
    struct answer *answer = site_get(site, (enum transport)transport, "/api/socket");
    ck_assert_int_eq(sscanf(answer->body, "%ld %ld %ld", &opened_count, &closed_count, &drained_count), 3);
    return drained_count;
}

/* ---- clients that do not read ---- */

START_TEST(case_66_one_that_is_sent_too_much_is_closed)
{
    char *name = text_print("slow%d", _i);
    struct socket *socket = open_at(_i, text_print("/echo?name=%s&flood=%d", name, ROUNDS));
    struct socket_frame frame;
    size_t count = 0;
    do
        ck_assert(socket_next(socket, &frame));
    while (frame.first == (SOCKET_FIN | SOCKET_BINARY) && frame.len == MESSAGE && ++count < ROUNDS);
    ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_CLOSE); /* after whole messages */
    ck_assert_uint_lt(count, ROUNDS);
    ck_assert_int_eq((unsigned char)frame.data[0] << 8 | (unsigned char)frame.data[1], 1013);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, name, "1013 too slow");
}
END_TEST

START_TEST(case_66_or_loses_messages)
{
    struct socket *socket = open_at(_i, text_print("/drop?name=drop%d&flood=%d", _i, ROUNDS));
    struct socket_frame frame;
    size_t count = 0;
    socket_text(socket, "last");
    for (;;) {
        ck_assert(socket_next(socket, &frame));
        if (frame.first == (SOCKET_FIN | SOCKET_TEXT))
            break;
        ck_assert_uint_eq(frame.len, MESSAGE);
        count++;
    }
    ck_assert_str_eq(frame.data, "last");
    ck_assert_uint_ge(count, QUEUE / MESSAGE);
    ck_assert_uint_lt(count, ROUNDS);
    socket_finish(socket);
}
END_TEST

/* It sends and does not take its echoes: the server reads no more, and loses none. */
START_TEST(case_66_one_that_takes_no_echoes_is_not_read)
{
    char *data = bytes_make(MESSAGE, 1);
    struct socket *socket = open_at(HTTP1, "/echo?name=echoes");
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        for (int i = 0; i < ROUNDS; i++)
            socket_send(socket, SOCKET_FIN | SOCKET_BINARY, data, MESSAGE);
        _exit(0);
    }
    pause_ms(500);
    struct socket_frame frame;
    for (int i = 0; i < ROUNDS; i++) {
        ck_assert(socket_next(socket, &frame));
        if (frame.first != (SOCKET_FIN | SOCKET_BINARY) || frame.len != MESSAGE)
            ck_abort_msg("frame 0x%x of %zu bytes in the place of echo %d", frame.first, frame.len, i);
        free(frame.data);
    }
    socket_finish(socket);
}
END_TEST

START_TEST(case_66_the_others_lose_nothing)
{
    enum { LISTENERS = 9, PUBLICATIONS = 2000 };
    struct socket *slow = open_at(HTTP1, "/echo?name=sleeper"), *fast[LISTENERS];
    struct socket *speaker = open_at(HTTP1, "/echo");
    struct socket_frame frame;
    char text[200];
    socket_text(slow, "/topic news");
    socket_expect_text(slow, "subscribed");
    for (int i = 0; i < LISTENERS; i++) {
        fast[i] = open_at(HTTP1, "/echo");
        socket_text(fast[i], "/topic news");
        socket_expect_text(fast[i], "subscribed");
    }
    for (int i = 0; i < PUBLICATIONS; i++) {
        snprintf(text, sizeof text, "/tell news %0150d", i);
        socket_text(speaker, text);
        for (int k = 0; k < LISTENERS; k++) {
            ck_assert(socket_next(fast[k], &frame));
            if (frame.first != (SOCKET_FIN | SOCKET_TEXT) || atoi(frame.data) != i)
                ck_abort_msg("'%.100s' where %d is expected", frame.data, i);
            free(frame.data);
        }
    }
    for (int i = 0; i < LISTENERS; i++)
        socket_finish(fast[i]);
    socket_drop(slow);
    socket_finish(speaker);
}
END_TEST

START_TEST(drain_is_told_once_there_is_room)
{
    const long before = drained(_i);
    struct socket *socket = open_at(_i, text_print("/drop?flood=%d", ROUNDS));
    struct socket_frame frame;
    socket_text(socket, "last");
    do
        ck_assert(socket_next(socket, &frame));
    while (frame.first != (SOCKET_FIN | SOCKET_TEXT));
    socket_finish(socket);
    ck_assert_int_gt(drained(_i), before);
}
END_TEST

/* ---- signs of life ---- */

static void expect_ping(struct socket *socket)
{
    struct socket_frame frame;
    ck_assert(socket_next(socket, &frame));
    ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_PING);
}

START_TEST(a_silent_client_is_asked_and_then_dropped)
{
    struct socket *socket = open_at(_i, text_print("/live?name=silent%d", _i));
    for (int i = 0; i < 3; i++) {
        expect_ping(socket);
        socket_send(socket, SOCKET_FIN | SOCKET_PONG, "", 0);
    }
    answer_expect_text(site_get(site, (enum transport)_i, text_print("/api/socket?closed=silent%d", _i)), 200,
                       "none");
    expect_ping(socket);
    socket_expect_end(socket);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("silent%d", _i), "1006 ");
}
END_TEST

START_TEST(on_the_pool_as_well)
{
    struct socket *socket = open_at(_i, text_print("/pool?name=silentpool%d", _i));
    expect_ping(socket);
    socket_text(socket, "alive");
    socket_expect_text(socket, "alive");
    expect_ping(socket);
    socket_expect_end(socket);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("silentpool%d", _i), "1006 ");
}
END_TEST

START_TEST(idle_sockets_are_closed_though_they_live)
{
    struct socket *socket = open_at(_i, text_print("/idle?name=idle%d", _i));
    struct socket_frame frame;
    int pings = 0;
    for (;;) {
        ck_assert(socket_next(socket, &frame));
        if (frame.first == (SOCKET_FIN | SOCKET_CLOSE))
            break;
        ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_PING);
        socket_send(socket, SOCKET_FIN | SOCKET_PONG, "", 0);
        pings++;
    }
    ck_assert_int_ge(pings, 1);
    ck_assert_int_eq((unsigned char)frame.data[0] << 8 | (unsigned char)frame.data[1], 1000);
    socket_close_with(socket, 1000, "");
    socket_expect_end(socket);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("idle%d", _i), "1000 idle for too long");
}
END_TEST

/* ---- the end of the server ---- */

START_TEST(case_63_a_stop_says_goodbye_to_all)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    struct server *server = server_start(folder, (const char *const[]){"STOP_TIMEOUT=2s", "THREADS=2", NULL});
    struct socket *sockets[20];
    for (int i = 0; i < 20; i++)
        sockets[i] = socket_open(server, HTTP1, "/api/socket", "", NULL);
    kill(server->pid, SIGTERM);
    for (int i = 0; i < 20; i++) {
        socket_expect_close(sockets[i], 1001);
        if (i % 2 == 0)
            socket_close_with(sockets[i], 1001, "");
    }
    for (int i = 0; i < 20; i += 2)
        socket_expect_end(sockets[i]);
    server_stop(server); /* the others do not keep it from ending */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("websocket flow");
    TCase *tests = harness_case(suite, "flow", setup, teardown);
#define LOOP(test) tcase_add_loop_test(tests, test, HTTP1, HTTP2 + 1)
    LOOP(case_66_one_that_is_sent_too_much_is_closed);
    LOOP(case_66_or_loses_messages);
    tcase_add_test(tests, case_66_one_that_takes_no_echoes_is_not_read);
    tcase_add_test(tests, case_66_the_others_lose_nothing);
    LOOP(drain_is_told_once_there_is_room);
    LOOP(a_silent_client_is_asked_and_then_dropped);
    LOOP(on_the_pool_as_well);
    LOOP(idle_sockets_are_closed_though_they_live);
    tcase_add_test(tests, case_63_a_stop_says_goodbye_to_all);
    return harness_run(suite);
}
