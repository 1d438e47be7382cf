/* HTTP/2 by hand: what is a request and what is none, bodies, cancelling, and every kind of waiting. */
#include "frames.h"
#include "harness.h"
#include "http2_script.h"

#include <stdlib.h>
#include <string.h>

#define LARGE (4 << 20)
#define LIMIT (1 << 20)

static struct server *server;

static void start(const char *const environment[])
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/b.txt", "bbb");
    folder_write(folder, "public/large.bin", bytes_make(LARGE, 2), LARGE);
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/calls.c", "calls");
    server = server_start(folder, environment);
}

static void setup(void)
{
    start((const char *const[]){"BODY_LIMIT=1048576", NULL});
}

static void setup_without(void)
{
    start((const char *const[]){"H2C=0", NULL});
}

static void setup_hasty(void)
{
    start((const char *const[]){"HEADER_TIMEOUT=400ms", "IDLE_TIMEOUT=400ms", "BODY_TIMEOUT=400ms",
                                "WRITE_TIMEOUT=400ms", "MIN_RATE_AFTER=400ms", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static long calls(void)
{
    return strtol(client_get(server, HTTP1, "/api/calls")->body, NULL, 10);
}

/* ---- the plain port ---- */

START_TEST(the_preface_may_come_in_pieces)
{
    for (size_t at = 1; at < sizeof FRAMES_PREFACE - 1; at++) {
        struct frames *frames = frames_open(server, false);
        frames_raw(frames, FRAMES_PREFACE, at);
        pause_ms(1);
        frames_raw(frames, &FRAMES_PREFACE[at], sizeof FRAMES_PREFACE - 1 - at);
        frames_send(frames, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
        frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "GET", "/b.txt");
        answer_expect_text(frames_answer(frames, 1), 200, "bbb");
        frames_close(frames);
    }
}
END_TEST

START_TEST(what_only_begins_like_the_preface)
{
    static const char *const odd[] = {"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "PRI / HTTP/1.1\r\nHost: x\r\n\r\n",
                                      "PRI * HTTP/1.1\r\nHost: x\r\n\r\n"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "%s", odd[i]);
        ck_assert_int_ge(wire_answer(wire, "PRI")->status, 400);
        wire_close(wire);
    }
    struct wire *wire = wire_open(server->port);
    static const char put[] = "PUT /b.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    wire_send_split(wire, put, sizeof put - 1, 1);
    answer_expect(wire_answer(wire, "PUT"), 405);
    wire_print(wire, "GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\n" FRAMES_PREFACE);
    answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    ck_assert_int_ge(wire_answer(wire, "PRI")->status, 400);
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

START_TEST(without_prior_knowledge_the_preface_is_refused)
{
    struct answer *answer = wire_once(server->port, FRAMES_PREFACE, sizeof FRAMES_PREFACE - 1);
    ck_assert_int_ge(answer->status, 400);
    ck_assert_int_lt(answer->status, 600);
    answer_expect_text(client_get(server, HTTP1, "/b.txt"), 200, "bbb");
}
END_TEST

/* ---- what is no request ---- */

#define HEAD ":method=POST :scheme=http :path=/api/calls :authority=x.test "

/* A reset with PROTOCOL_ERROR (0), or a status. Whatever it is, the function does not hear of it. */
static const struct refusal {
    const char *script;
    int status;
} refusals[] = {
    {"H 1 eh :method=POST :scheme=http :path=api/calls :authority=x.test", 0},
    {"H 1 eh :method=POST :scheme=http :path=http://x.test/api/calls :authority=x.test", 0},
    {"H 1 eh :method=POST :scheme=http :path=* :authority=x.test", 0},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls#x :authority=x.test", 400},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls\x01 :authority=x.test", 0},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls\xc3\xa4 :authority=x.test", 400},
    {"H 1 eh :method=PO@ST :scheme=http :path=/api/calls :authority=x.test", 0},
    {"H 1 eh :method= :scheme=http :path=/api/calls :authority=x.test", 0},
    {"H 1 eh :method=CONNECT :scheme=http :path=/api/calls :authority=x.test", 0},
    {"H 1 eh :method=CONNECT :authority=x.test", 501},
    {"H 1 eh :method=POST :scheme=ftp :path=/api/calls :authority=x.test", 400},
    {"H 1 eh :method=POST :scheme= :path=/api/calls :authority=x.test", 0},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls", 0},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls :authority=", 0},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls :authority=me@x.test", 400},
    {"H 1 eh :method=POST :scheme=http :path=/api/calls :authority=x.test/y", 0},
    {"H 1 eh " HEAD "host=y.test", 400},
    {"H 1 eh " HEAD "host=x.test host=x.test", 0},
    {"H 1 eh " HEAD ":protocol=websocket", 0},
    {"H 1 eh " HEAD "keep-alive=1", 0},
    {"H 1 eh " HEAD "proxy-connection=close", 0},
    {"H 1 eh " HEAD "transfer-encoding=chunked", 0},
    {"H 1 eh " HEAD "upgrade=h2c", 0},
    {"H 1 eh " HEAD "content-length=1", 0},
    {"H 1 eh " HEAD "content-length=+0", 0},
    {"H 1 eh " HEAD "content-length=", 0},
    {"H 1 eh " HEAD "content-length=99999999999999999999", 0},
    {"H 1 h " HEAD "content-length=3 content-length=3; D 1 e abc", 0},
    {"H 1 h " HEAD "content-length=4; D 1 e abc", 0},
    {"H 1 h " HEAD "content-length=4; D 1 - abc; H 1 eh x=y", 0},
    {"H 1 eh " HEAD "#0003612062"
     "0178",
     0}, /* a blank in a name */
    {"H 1 eh " HEAD "#0003613a62"
     "0178",
     0}, /* a colon */
    {"H 1 eh " HEAD "#0000"
     "0178",
     0}, /* no name at all */
    {"H 1 eh " HEAD "#000161"
     "03780078",
     0}, /* NUL in a value */
    {"H 1 eh " HEAD "#000161"
     "03780d78",
     0}, /* CR */
    {"H 1 eh " HEAD "#000161"
     "03780a78",
     0}, /* LF */
    {"H 1 eh " HEAD "#000161"
     "022078",
     0}, /* a blank before a value */
    {"H 1 eh " HEAD "expect=magic", 417},
};

START_TEST(what_is_no_request_reaches_no_function)
{
    const struct refusal *refusal = &refusals[_i];
    long before = calls();
    struct frames *frames = frames_start(server, false);
    http2_script_run(frames, refusal->script);
    if (refusal->status == 0)
        frames_expect_reset(frames, 1, NGHTTP2_PROTOCOL_ERROR);
    else
        answer_expect(frames_answer(frames, 1), refusal->status);
    frames_expect_alive(frames);
    frames_close(frames);
    ck_assert_int_eq(calls(), before);
}
END_TEST

/* ---- requests and answers ---- */

START_TEST(requests_in_all_their_forms)
{
    static const char *const forms[] = {
        "H 1 eh " HEAD "host=X.TEST",
        "H 1 eh :method=POST :scheme=http :path=/api/calls host=x.test",
        "H 1 eh " HEAD "te=trailers",
        "H 1 eh " HEAD "content-length=0",
        "H 1 h " HEAD "; D 1 e abc",
        "H 1 h " HEAD "content-length=3; D 1 - a; D 1 - bc; D 1 e ",
        "H 1 h " HEAD "; D 1 - abc; H 1 eh x-checksum=1 x-other=2",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        long before = calls();
        struct frames *frames = frames_start(server, false);
        http2_script_run(frames, forms[i]);
        answer_expect(frames_answer(frames, 1), 200);
        frames_close(frames);
        ck_assert_int_eq(calls(), before + 1);
    }
}
END_TEST

START_TEST(trailers_are_not_fields)
{
    struct frames *frames = frames_start(server, false);
    http2_script_run(frames, "H 1 h :method=POST :scheme=http :path=/api/echo :authority=x.test; D 1 - abc; "
                             "H 1 eh x-trailer=secret");
    struct answer *answer = frames_answer(frames, 1);
    answer_expect(answer, 200);
    ck_assert_ptr_nonnull(strstr(answer->body, "616263"));
    ck_assert_ptr_null(strstr(answer->body, "secret"));
    frames_close(frames);
}
END_TEST

START_TEST(case_17_cookies_are_joined)
{
    struct frames *frames = frames_start(server, false);
    http2_script_run(frames, "H 1 eh :method=GET :scheme=http :path=/api/echo :authority=x.test cookie=a=1 "
                             "x=y cookie=b=2");
    ck_assert_ptr_nonnull(strstr(frames_answer(frames, 1)->body, "a=1; b=2"));
    frames_close(frames);
}
END_TEST

START_TEST(continue_is_said_once_and_only_when_asked)
{
    struct frames *frames = frames_start(server, false);
    http2_script_run(frames, "H 1 h " HEAD "expect=100-continue content-length=3");
    ck_assert_int_eq(frames_head(frames, 1)->status, 100);
    http2_script_run(frames, "D 1 e abc");
    ck_assert_int_eq(frames_head(frames, 1)->status, 200);
    http2_script_run(frames, "H 3 h " HEAD "expect=100-continue content-length=9999999");
    ck_assert_int_eq(frames_head(frames, 3)->status, 413);
    http2_script_run(frames, "H 5 h " HEAD "; D 5 e abc");
    ck_assert_int_eq(frames_head(frames, 5)->status, 200);
    http2_script_run(frames, "H 7 eh " HEAD "expect=100-continue");
    ck_assert_int_eq(frames_head(frames, 7)->status, 200);
    frames_close(frames);
}
END_TEST

/* HEADERS with END_STREAM, and no DATA. */
START_TEST(answers_without_a_body)
{
    struct frames *frames = frames_start(server, false);
    struct frame frame;
    frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "HEAD", "/b.txt");
    ck_assert(frames_find(frames, NGHTTP2_HEADERS, &frame));
    ck_assert_uint_ne(frame.flags & NGHTTP2_FLAG_END_STREAM, 0);
    frames_request(frames, 3, NGHTTP2_FLAG_END_STREAM, "OPTIONS", "/b.txt");
    ck_assert(frames_find(frames, NGHTTP2_HEADERS, &frame));
    ck_assert_uint_ne(frame.flags & NGHTTP2_FLAG_END_STREAM, 0);
    frames_request(frames, 5, NGHTTP2_FLAG_END_STREAM, "GET", "/b.txt");
    ck_assert(frames_find(frames, NGHTTP2_DATA, &frame));
    ck_assert_uint_eq(frame.stream, 5);
    frames_close(frames);
}
END_TEST

START_TEST(too_large_is_a_status_and_no_reset)
{
    struct frames *frames = frames_start(server, false);
    char *piece = bytes_make(16384, 3);
    http2_script_run(frames, "H 1 h " HEAD "content-length=2000000");
    for (int i = 0; i < 3; i++)
        frames_send(frames, NGHTTP2_DATA, 0, 1, piece, 16384);
    answer_expect(frames_answer(frames, 1), 413);
    for (int i = 0; i < 3; i++)
        frames_send(frames, NGHTTP2_DATA, 0, 1, piece, 16384);
    struct frame frame;
    frames_send(frames, NGHTTP2_PING, 0, 0, "12345678", 8);
    do {
        ck_assert(frames_next(frames, &frame));
        ck_assert_uint_ne(frame.type, NGHTTP2_RST_STREAM);
    } while (frame.type != NGHTTP2_PING);
    frames_close(frames);
}
END_TEST

/* The window of a stream is opened by what was taken, not by what is wanted. */
START_TEST(windows_are_opened_as_bodies_are_taken)
{
    struct frames *frames = frames_start(server, false);
    uint32_t most = frames_setting(frames, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE);
    size_t sent = 0;
    uint64_t granted = most;
    char *body = bytes_make(LIMIT, 4);
    struct frame frame = {0};
    frames_request(frames, 1, 0, "POST", "/api/echo");
    while (sent < LIMIT) {
        size_t len = LIMIT - sent < 16384 ? LIMIT - sent : 16384;
        for (; sent + len > granted; granted += frame.stream == 1 ? frame_number(&frame, 0) : 0)
            ck_assert(frames_find(frames, NGHTTP2_WINDOW_UPDATE, &frame));
        ck_assert_uint_le(granted, sent + most);
        frames_send(frames, NGHTTP2_DATA, sent + len == LIMIT ? NGHTTP2_FLAG_END_STREAM : 0, 1, body + sent,
                    len);
        sent += len;
    }
    ck_assert_ptr_nonnull(strstr(frames_answer(frames, 1)->body, bytes_digest(body, LIMIT)));
    frames_close(frames);
}
END_TEST

/* All in one write: it has been cancelled before anybody could have begun with it. */
START_TEST(a_cancelled_request_reaches_no_function)
{
    long before = calls();
    struct frames *frames = frames_start(server, false);
    struct block block, all;
    block.len = all.len = 0;
    block_request(&block, "POST", "/api/calls");
    for (unsigned char stream = 1; stream < 100; stream += 2) {
        block_append(&all, (unsigned char[9]){0, 0, (unsigned char)block.len, 1, 5, 0, 0, 0, stream}, 9);
        block_append(&all, block.bytes, block.len);
        block_append(&all, (unsigned char[13]){0, 0, 4, 3, 0, 0, 0, 0, stream, 0, 0, 0, 8}, 13);
    }
    frames_raw(frames, all.bytes, all.len);
    frames_expect_alive(frames);
    frames_close(frames);
    ck_assert_int_eq(calls(), before);
}
END_TEST

/* ---- waiting ---- */

/* Other streams are answered until stream 1 is reset. */
static void expect_cancelled(struct frames *frames, uint32_t grant)
{
    struct frame frame = {0};
    for (uint32_t stream = 3; frame.type != NGHTTP2_RST_STREAM; stream += 2) {
        if (grant > 0)
            frames_window(frames, 1, grant);
        frames_request(frames, stream, NGHTTP2_FLAG_END_STREAM, "HEAD", "/b.txt");
        do
            ck_assert_msg(frames_next(frames, &frame), "the connection ended");
        while (frame.type != NGHTTP2_RST_STREAM && (frame.type != NGHTTP2_HEADERS || frame.stream != stream));
        pause_ms(20);
    }
    ck_assert_uint_eq(frame.stream, 1);
    ck_assert_uint_eq(frame_number(&frame, 0), NGHTTP2_CANCEL);
    frames_expect_alive(frames);
    frames_close(frames);
}

START_TEST(an_answer_behind_a_closed_window_ends_alone)
{
    struct frames *frames = frames_start(server, false);
    frames_settings(frames, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
    frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "GET", "/large.bin");
    expect_cancelled(frames, 0);
}
END_TEST

START_TEST(an_answer_taken_byte_by_byte_ends_alone)
{
    struct frames *frames = frames_start(server, false);
    frames_settings(frames, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1);
    frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "GET", "/large.bin");
    expect_cancelled(frames, 1);
}
END_TEST

START_TEST(a_body_that_does_not_come_ends_alone)
{
    struct frames *frames = frames_start(server, false);
    struct frame frame = {0};
    frames_request(frames, 1, 0, "POST", "/api/calls");
    for (uint32_t stream = 3; frame.type != NGHTTP2_HEADERS || frame.stream != 1; stream += 2) {
        frames_request(frames, stream, NGHTTP2_FLAG_END_STREAM, "HEAD", "/b.txt");
        do
            ck_assert_msg(frames_find(frames, NGHTTP2_HEADERS, &frame), "the connection ended");
        while (frame.stream != stream && frame.stream != 1);
        pause_ms(20);
    }
    frames_expect_alive(frames);
    frames_close(frames);
}
END_TEST

START_TEST(a_body_that_does_not_come_is_408)
{
    struct frames *frames = frames_start(server, false);
    http2_script_run(frames, "H 1 h " HEAD "content-length=10; D 1 - abc");
    answer_expect(frames_answer(frames, 1), 408);
    frames_close(frames);
}
END_TEST

/* The stream's own window is wide open, so nothing but the connection is to blame. */
START_TEST(a_connection_that_takes_nothing_ends)
{
    struct frames *frames = frames_start(server, false);
    frames_settings(frames, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30);
    frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "GET", "/large.bin");
    while (frames_skip(frames))
        ;
    frames_close(frames);
}
END_TEST

START_TEST(a_head_without_end_ends_the_connection)
{
    struct frames *frames = frames_start(server, false);
    http2_script_run(frames, "H 1 e :method=GET");
    frames_expect_goaway(frames, NGHTTP2_NO_ERROR);
    frames_close(frames);
}
END_TEST

START_TEST(an_idle_connection_ends)
{
    struct frames *frames = frames_start(server, false);
    frames_expect_goaway(frames, NGHTTP2_NO_ERROR);
    frames_close(frames);
}
END_TEST

/* PING is no request, and does not keep a connection. */
START_TEST(a_pinging_connection_ends)
{
    struct frames *frames = frames_start(server, false);
    struct frame frame;
    do {
        frames_send(frames, NGHTTP2_PING, 0, 0, "12345678", 8);
        pause_ms(20);
        ck_assert(frames_next(frames, &frame));
    } while (frame.type != NGHTTP2_GOAWAY);
    ck_assert_uint_eq(frame_number(&frame, 4), NGHTTP2_NO_ERROR);
    frames_close(frames);
}
END_TEST

static void add_waiting(Suite *suite)
{
    TCase *waiting = harness_case(suite, "waiting", setup_hasty, teardown);
    tcase_add_test(waiting, an_answer_behind_a_closed_window_ends_alone);
    tcase_add_test(waiting, an_answer_taken_byte_by_byte_ends_alone);
    tcase_add_test(waiting, a_body_that_does_not_come_ends_alone);
    tcase_add_test(waiting, a_body_that_does_not_come_is_408);
    tcase_add_test(waiting, a_connection_that_takes_nothing_ends);
    tcase_add_test(waiting, a_head_without_end_ends_the_connection);
    tcase_add_test(waiting, an_idle_connection_ends);
    tcase_add_test(waiting, a_pinging_connection_ends);
}

int main(void)
{
    Suite *suite = suite_create("http2");
    TCase *tests = harness_case(suite, "requests", setup, teardown);
    tcase_add_test(tests, the_preface_may_come_in_pieces);
    tcase_add_test(tests, what_only_begins_like_the_preface);
    tcase_add_loop_test(tests, what_is_no_request_reaches_no_function, 0,
                        (int)(sizeof refusals / sizeof *refusals));
    tcase_add_test(tests, requests_in_all_their_forms);
    tcase_add_test(tests, trailers_are_not_fields);
    tcase_add_test(tests, case_17_cookies_are_joined);
    tcase_add_test(tests, continue_is_said_once_and_only_when_asked);
    tcase_add_test(tests, answers_without_a_body);
    tcase_add_test(tests, too_large_is_a_status_and_no_reset);
    tcase_add_test(tests, windows_are_opened_as_bodies_are_taken);
    tcase_add_test(tests, a_cancelled_request_reaches_no_function);
    add_waiting(suite);
    TCase *without = harness_case(suite, "without", setup_without, teardown);
    tcase_add_test(without, without_prior_knowledge_the_preface_is_refused);
    return harness_run(suite);
}
