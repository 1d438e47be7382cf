/* WebSockets from the handshake to the end, over HTTP/1.1, TLS and HTTP/2: what a client asks for and what it
   gets, what a function sees, and how often it is told. */
#include "harness.h"
#include "site.h"
#include "socket.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct site *site;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    folder_add_function(folder, "tests/stories/chat.c", "chat");
    folder_add_function(folder, "tests/stories/simple.c", "simple");
    folder_print(
        folder, "apiconfig.yaml",
        "global: { APIKEY: sesame }\n"
        "functions: { autoMount: true }\n"
        "REST:\n"
        "  /api/socket: { path: socket.so, method: GET }\n"
        "  /ws/echo: { path: socket.so, method: GET }\n"
        "WEBSOCKET:\n"
        "  /ws/echo: { path: socket.so }\n"
        "  /ws/room/:name: { path: socket.so }\n"
        "  /ws/private: { path: socket.so, isPrivate: true }\n"
        "  /ws/needs: { path: socket.so, parametersList: [name] }\n"
        "  /ws/site: { path: socket.so, origins: [\"https://Site.test:443\", \"http://b.test:8080\"] }\n"
        "  /ws/open: { path: socket.so, origins: \"*\" }\n"
        "  /ws/speaks: { path: socket.so, protocols: [a, b] }\n"
        "  /ws/pool: { path: socket.so, mode: blocking }\n"
        "  /chat: { path: chat.so }\n");
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

static struct answer *refused(int transport, const char *path, const char *fields)
{
    return site_socket_refused(site, (enum transport)transport, path, fields);
}

/* ---- the handshake ---- */

static struct answer *ask(const char *request)
{
    struct wire *wire = wire_open(site->plain->port);
    wire_send(wire, request, strlen(request));
    struct answer *answer = wire_answer(wire, "GET");
    wire_close(wire);
    return answer;
}

static void expect_upgrade_required(struct answer *answer)
{
    answer_expect(answer, 426);
    answer_expect_field(answer, "upgrade", "websocket");
    answer_expect_field(answer, "connection", "Upgrade");
    answer_expect_field(answer, "sec-websocket-version", "13");
}

#define START "GET /chat?name=x HTTP/1.1\r\nHost: x.test\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define KEY "Sec-WebSocket-Key: " SOCKET_KEY "\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"

static const struct {
    const char *request;
    int status;
} handshakes[] = {
    {START UPGRADE KEY VERSION "\r\n", 101},
    {START "Upgrade: h2c, WebSocket\r\nConnection: close , upgrade\r\n" KEY VERSION "\r\n", 101},
    {START "Upgrade: foo\r\nUpgrade: websocket\r\nConnection: x\r\nConnection: UPGRADE\r\n" KEY VERSION
           "\r\n",
     101},
    {START UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n", 426},
    {START UPGRADE KEY "Sec-WebSocket-Version: 13, 8\r\n\r\n", 426},
    {START UPGRADE KEY VERSION VERSION "\r\n", 426},
    {START UPGRADE KEY "\r\n", 426},
    {START "\r\n", 426},
    {START "Upgrade: websockets\r\nConnection: Upgrade\r\n" KEY VERSION "\r\n", 426},
    {START "Connection: Upgrade\r\n" KEY VERSION "\r\n", 426},
    {START "Upgrade: websocket\r\n" KEY VERSION "\r\n", 400},
    {START "Upgrade: websocket\r\nConnection: keep-alive\r\n" KEY VERSION "\r\n", 400},
    {START UPGRADE VERSION "\r\n", 400},
    {START UPGRADE KEY KEY VERSION "\r\n", 400},
    {START UPGRADE VERSION "Sec-WebSocket-Key: \r\n\r\n", 400},
    {START UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n\r\n", 400},
    {START UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j!Q==\r\n\r\n", 400},
    {START UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZWVl\r\n\r\n", 400},
    {START UPGRADE KEY VERSION "Content-Length: 3\r\n\r\nabc", 400},
    {START UPGRADE KEY VERSION "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {START UPGRADE KEY VERSION "Content-Length: 0\r\n\r\n", 101},
    {"GET /chat?name=x HTTP/1.0\r\nHost: x.test\r\n" UPGRADE KEY VERSION "\r\n", 426},
    {"POST /chat?name=x HTTP/1.1\r\nHost: x.test\r\nContent-Length: 0\r\n" UPGRADE KEY VERSION "\r\n", 405},
    {"GET /nowhere HTTP/1.1\r\nHost: x.test\r\n" UPGRADE KEY VERSION "\r\n", 404},
    {"GET /api/simple HTTP/1.1\r\nHost: x.test\r\n" UPGRADE KEY VERSION "\r\n", 200},
};

START_TEST(case_59_a_handshake_is_exactly_right_or_refused)
{
    struct answer *answer = ask(handshakes[_i].request);
    answer_expect(answer, handshakes[_i].status);
    if (handshakes[_i].status == 426)
        expect_upgrade_required(answer);
}
END_TEST

START_TEST(a_connection_goes_on_after_a_refusal)
{
    struct wire *wire = wire_open(site->plain->port);
    for (int i = 0; i < 3; i++) {
        wire_print(wire, START UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n");
        expect_upgrade_required(wire_answer(wire, "GET"));
        wire_print(wire, "GET /ws/echo?closed=no HTTP/1.1\r\nHost: x.test\r\n\r\n");
        answer_expect_text(wire_answer(wire, "GET"), 200, "none");
    }
    wire_close(wire);
}
END_TEST

START_TEST(http2_refuses_in_its_own_words)
{
    struct answer *answer = refused(HTTP2, "/chat?name=x", "sec-websocket-version: 8\r\n");
    answer_expect(answer, 400);
    answer_expect_field(answer, "sec-websocket-version", "13");
    ck_assert_ptr_null(answer_field(answer, "upgrade"));
    answer_expect(refused(HTTP2, "/nowhere", ""), 404);
    answer_expect(refused(HTTP2, "/api/simple", ""), 405);
}
END_TEST

static const struct {
    const char *path, *origin;
    bool taken;
} origins[] = {
    {"/ws/site", "https://site.test", true},
    {"/ws/site", "HTTPS://SITE.test:443", true},
    {"/ws/site", "http://b.test:8080", true},
    {"/ws/site", "http://site.test", false},
    {"/ws/site", "https://site.test:444", false},
    {"/ws/site", "https://evil.test", false},
    {"/ws/site", "https://site.test.evil", false},
    {"/ws/site", "null", false},
    {"/ws/site", "", false},
    {"/ws/site", "https://site.test/", false},
    {"/ws/site", "https://x.test", false},
    {"/ws/site", NULL, true},
    {"/ws/echo", "https://x.test", true},
    {"/ws/echo", "http://X.TEST:80", true},
    {"/ws/echo", "https://evil.test", false},
    {"/ws/echo", "null", false},
    {"/ws/echo", "https://x.test:8443", false},
    {"/ws/open", "https://evil.test", true},
    {"/ws/open", "null", true},
};

START_TEST(case_65_origins)
{
    for (int transport = HTTP1; transport <= HTTP2; transport++) {
        const char *fields = origins[_i].origin ? text_print("origin: %s\r\n", origins[_i].origin) : "";
        if (origins[_i].taken)
            socket_finish(site_socket(site, (enum transport)transport, origins[_i].path, fields, NULL));
        else
            answer_expect(refused(transport, origins[_i].path, fields), 403);
    }
}
END_TEST

static const struct {
    const char *fields, *chosen;
} protocols[] = {
    {"sec-websocket-protocol: b\r\n", "b"},
    {"sec-websocket-protocol: c, b, a\r\n", "b"},
    {"sec-websocket-protocol: c\r\nsec-websocket-protocol: a\r\n", "a"},
    {"sec-websocket-protocol: c\r\n", NULL},
    {"sec-websocket-protocol: A\r\n", NULL},
    {"", NULL},
};

START_TEST(case_65_subprotocols)
{
    for (int transport = HTTP1; transport <= HTTP2; transport++) {
        struct answer *answer;
        struct socket *socket =
            site_socket(site, (enum transport)transport, "/ws/speaks", protocols[_i].fields, &answer);
        if (protocols[_i].chosen != NULL)
            answer_expect_field(answer, "sec-websocket-protocol", protocols[_i].chosen);
        else
            ck_assert_ptr_null(answer_field(answer, "sec-websocket-protocol"));
        ck_assert_ptr_null(answer_field(answer, "sec-websocket-extensions"));
        socket_finish(socket);
    }
}
END_TEST

START_TEST(rules_are_those_of_any_route)
{
    answer_expect(refused(_i, "/ws/private", ""), 403);
    answer_expect(refused(_i, "/ws/private?apiKey=wrong", ""), 403);
    socket_finish(open_at(_i, "/ws/private?apiKey=sesame"));
    answer_expect(refused(_i, "/ws/needs", ""), 400);
    socket_finish(open_at(_i, "/ws/needs?name=x"));
}
END_TEST

START_TEST(upgrade_may_answer_anything_else)
{
    answer_expect_text(refused(_i, "/ws/echo?reply=1&refuse=-1", ""), 401, "who are you?\n");
    answer_expect_field(refused(_i, "/ws/echo?reply=1&refuse=-1", ""), "set-cookie", "seen=1; Path=/");
    answer_expect_text(refused(_i, "/ws/echo?refuse=404", ""), 404, "404 - The WebSocket was refused\n");
    answer_expect_text(refused(_i, "/ws/echo?refuse=-1", ""), 403, "403 - The WebSocket was refused\n");
    answer_expect(refused(_i, "/ws/echo?refuse=200", ""), 500);
    answer_expect(refused(_i, "/ws/echo?fault=1", ""), 500);
    answer_expect_text(refused(_i, "/ws/pool?reply=1&refuse=-1", ""), 401, "who are you?\n");
}
END_TEST

START_TEST(what_upgrade_sets_comes_with_the_101)
{
    struct answer *answer;
    struct socket *socket = site_socket(site, (enum transport)_i, "/ws/echo", "", &answer);
    answer_expect_field(answer, "set-cookie", "seen=1; Path=/");
    ck_assert_ptr_nonnull(answer_field(answer, "x-request-id"));
    ck_assert_ptr_null(answer_field(answer, "content-type"));
    ck_assert_ptr_null(answer_field(answer, "content-length"));
    socket_finish(socket);
}
END_TEST

START_TEST(story_chat)
{
    answer_expect_text(refused(_i, "/chat", ""), 400, "say who you are: ?name=\n");
    struct socket *ann = open_at(_i, "/chat?name=ann"), *bob = open_at(_i, "/chat?name=bob");
    struct socket_frame frame;
    ck_assert(socket_next(ann, &frame) && socket_next(bob, &frame));
    ck_assert_ptr_nonnull(strstr(frame.data, "welcome, "));
    socket_text(ann, "hello");
    socket_expect_text(ann, "ann: hello");
    socket_expect_text(bob, "ann: hello");
    char *essay = bytes_make(2000, 1);
    memset(essay, 'x', 2000);
    socket_send(bob, SOCKET_FIN | SOCKET_TEXT, essay, 2000);
    socket_expect_close(bob, 1009);
    socket_drop(bob);
    socket_finish(ann);
}
END_TEST

START_TEST(case_69_what_follows_the_handshake_is_a_message)
{
    static const char request[] =
        "GET /ws/echo?hello=1&name=n69 HTTP/1.1\r\n" SOCKET_FIELDS "X-Test: yes\r\nCookie: c=1\r\n\r\n"
        "\x81\x83\x01\x02\x03\x04\x60\x60\x60";
    char hello[256], got[300];
    for (size_t at = 0; at<sizeof request; at += at> sizeof request - 14 ? 1 : 37) {
        struct wire *wire = wire_open(site->plain->port);
        wire_send_split(wire, request, sizeof request - 1, at);
        answer_expect(wire_answer(wire, "GET"), 101);
        snprintf(hello, sizeof hello, "GET /ws/echo?hello=1&name=n69 127.0.0.1 yes 1 /ws/echo data of n69");
        ck_assert(wire_take(wire, got, 2 + strlen(hello)));
        ck_assert_int_eq(memcmp(got + 2, hello, strlen(hello)), 0);
        ck_assert(wire_take(wire, got, 5));
        ck_assert_int_eq(memcmp(got,
                                "\x81\x03"
                                "abc",
                                5),
                         0);
        wire_close(wire);
    }
}
END_TEST

START_TEST(the_handshake_can_be_read_as_long_as_the_socket_lives)
{
    const char *told =
        text_print("GET /ws/room/a b?name=h%d 127.0.0.1 yes 1 /ws/room/:name data of h%d", _i, _i);
    struct socket *socket = site_socket(site, (enum transport)_i, text_print("/ws/room/a%%20b?name=h%d", _i),
                                        "x-test: yes\r\ncookie: c=1\r\n", NULL);
    for (int i = 0; i < 50; i++) {
        socket_text(socket, "/event");
        socket_expect_text(socket, told);
        site_get(site, (enum transport)_i, "/api/simple");
    }
    socket_text(socket, "/arena");
    socket_expect_text(socket, "10000");
    socket_finish(socket);
    socket_expect_told(site, (enum transport)_i, text_print("h%d", _i), "1000 ");
}
END_TEST

/* ---- the end ---- */

START_TEST(case_63_close_is_told_once_whatever_happened)
{
    struct socket *socket = open_at(_i, text_print("/ws/echo?name=a%d", _i));
    socket_close_with(socket, 4999, "bye");
    socket_expect_close(socket, 4999);
    socket_expect_end(socket);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("a%d", _i), "4999 bye");

    socket = open_at(_i, text_print("/ws/echo?name=b%d", _i));
    socket_send(socket, SOCKET_FIN | SOCKET_CLOSE, "", 0);
    socket_expect_close(socket, 0);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("b%d", _i), "1005 ");

    socket = open_at(_i, text_print("/ws/echo?name=c%d", _i));
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("c%d", _i), "1006 ");

    socket = open_at(_i, text_print("/ws/echo?name=d%d", _i));
    socket_text(socket, "/close 4000 enough");
    socket_expect_close(socket, 4000);
    socket_text(socket, "nobody listens");
    socket_close_with(socket, 4000, "");
    socket_expect_end(socket);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("d%d", _i), "4000 enough");

    socket = open_at(_i, text_print("/ws/echo?name=e%d", _i));
    socket_send(socket, 0x83, "", 0);
    socket_expect_close(socket, 1002);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("e%d", _i), "1002 a frame that is none");
}
END_TEST

START_TEST(who_is_told_to_go_and_leaves_without_a_word)
{
    struct socket *socket = open_at(_i, text_print("/ws/echo?name=f%d", _i));
    socket_text(socket, "/close 4000 enough");
    socket_expect_close(socket, 4000);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("f%d", _i), "4000 enough");
}
END_TEST

START_TEST(mistakes_of_functions_harm_nobody)
{
    struct socket *socket = open_at(_i, "/ws/echo");
    socket_text(socket, "/bad");
    socket_expect_text(socket, "refused");
    socket_text(socket, "/wrong");
    socket_expect_close(socket, 1011);
    socket_drop(socket);
    server_expect_log(
        site_server(site, (enum transport)_i),
        (const char *const[]){"socket.so", "cg_defer is not for the event of a WebSocket", NULL});
}
END_TEST

/* ---- others ---- */

START_TEST(topics_reach_those_who_have_subscribed)
{
    struct socket *a = open_at(_i, "/ws/echo"), *b = open_at(_i, "/ws/pool");
    socket_text(a, "/topic t");
    socket_expect_text(a, "subscribed");
    socket_text(a, "/topic t");
    socket_expect_text(a, "subscribed");
    socket_text(b, "/topic t");
    socket_expect_text(b, "subscribed");
    socket_text(b, "/tell t one");
    socket_expect_text(a, "one");
    socket_expect_text(b, "one");
    socket_text(a, "/leave t");
    socket_expect_text(a, "left");
    socket_text(b, "/tell t two");
    socket_expect_text(b, "two");
    socket_text(a, "alone");
    socket_expect_text(a, "alone");
    socket_text(a, "/topic ");
    socket_expect_text(a, "not subscribed");
    socket_finish(a);
    socket_finish(b);
}
END_TEST

static char *id_of(struct socket *socket)
{
    struct socket_frame frame;
    socket_text(socket, "/id");
    ck_assert(socket_next(socket, &frame));
    return frame.data;
}

START_TEST(a_socket_is_reached_by_its_id)
{
    const int other = _i == HTTP1 ? HTTP1 : _i == TLS1 ? HTTP2 : TLS1;
    struct socket *a = open_at(_i, text_print("/ws/echo?name=i%d", _i)), *b = open_at(other, "/ws/echo");
    struct socket *c = open_at(other, "/ws/pool");
    char *id = id_of(a);
    ck_assert_str_ne(id, id_of(b));
    socket_text(b, text_print("/send %s hi", id));
    socket_expect_text(a, text_print("%s hi", id));
    socket_text(c, text_print("/send %s pool", id));
    socket_expect_text(a, text_print("%s pool", id));
    socket_text(b, text_print("/end %s", id));
    socket_expect_text(b, "ended");
    socket_expect_close(a, 4001);
    socket_drop(a);
    socket_expect_told(site, (enum transport)_i, text_print("i%d", _i), "4001 ended by another");
    socket_text(b, text_print("/send %s hi", id));
    socket_expect_text(b, "gone");
    socket_text(b, "/send 18446744073709551615 hi");
    socket_expect_text(b, "gone");
    socket_finish(b);
    socket_finish(c);
}
END_TEST

START_TEST(hooks_on_the_pool_keep_the_order)
{
    struct socket *socket = open_at(_i, text_print("/ws/pool?hello=1&name=p%d", _i));
    struct socket_frame frame;
    ck_assert(socket_next(socket, &frame));
    for (int i = 0; i < 100; i++)
        socket_text(socket, text_print("message %d", i));
    for (int i = 0; i < 100; i++)
        socket_expect_text(socket, text_print("message %d", i));
    socket_text(socket, "/close 4002 over");
    socket_expect_close(socket, 4002);
    socket_drop(socket);
    socket_expect_told(site, (enum transport)_i, text_print("p%d", _i), "4002 over");
}
END_TEST

START_TEST(counters_agree_in_the_end)
{
    long opened = 1, closed = 0, drained;
    for (int i = 0; i < 200 && opened != closed; i++) {
        pause_ms(20);
        struct answer *answer = site_get(site, (enum transport)_i, "/ws/echo");
        ck_assert_int_eq(sscanf(answer->body, "%ld %ld %ld", &opened, &closed, &drained), 3);
    }
    ck_assert_int_eq(opened, closed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("websocket");
    TCase *tests = harness_case(suite, "websocket", setup, teardown);
#define LOOP(test) tcase_add_loop_test(tests, test, HTTP1, HTTP2 + 1)
#define TABLE(test, rows) tcase_add_loop_test(tests, test, 0, (int)(sizeof rows / sizeof *rows))
    TABLE(case_59_a_handshake_is_exactly_right_or_refused, handshakes);
    tcase_add_test(tests, a_connection_goes_on_after_a_refusal);
    tcase_add_test(tests, http2_refuses_in_its_own_words);
    TABLE(case_65_origins, origins);
    TABLE(case_65_subprotocols, protocols);
    LOOP(rules_are_those_of_any_route);
    LOOP(upgrade_may_answer_anything_else);
    LOOP(what_upgrade_sets_comes_with_the_101);
    LOOP(story_chat);
    tcase_add_test(tests, case_69_what_follows_the_handshake_is_a_message);
    LOOP(the_handshake_can_be_read_as_long_as_the_socket_lives);
    LOOP(case_63_close_is_told_once_whatever_happened);
    LOOP(who_is_told_to_go_and_leaves_without_a_word);
    LOOP(mistakes_of_functions_harm_nobody);
    LOOP(topics_reach_those_who_have_subscribed);
    LOOP(a_socket_is_reached_by_its_id);
    LOOP(hooks_on_the_pool_keep_the_order);
    LOOP(counters_agree_in_the_end);
    return harness_run(suite);
}
