/* Answers that go out piece by piece, over each protocol, to clients that take them or don't. */
#include "frames.h"
#include "site.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 10000
#define HOST "Host: x.test\r\n"

static struct site *site;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/b.txt", "bbb");
    folder_add_function(folder, "tests/e2e/functions/flow.c", "flow");
    site = site_start(folder, (const char *const[]){"STREAM_QUEUE=400000", NULL});
}

static void teardown(void)
{
    site_stop(site);
}

static void expect_pieces(const struct answer *answer, size_t count)
{
    ck_assert_int_eq(answer->status, 200);
    ck_assert_ptr_null(answer_field(answer, "content-length"));
    ck_assert_str_eq(answer_field(answer, "content-type"), "text/plain; charset=utf-8");
    ck_assert_uint_eq(answer->len, count * PIECE);
    char piece[PIECE];
    for (size_t i = 0; i < count; i++) {
        memset(piece, 'a' + (int)(i % 26), sizeof piece);
        ck_assert_mem_eq(answer->body + i * PIECE, piece, sizeof piece);
    }
}

START_TEST(pieces_from_the_loop_as_there_is_room)
{
    expect_pieces(site_get(site, (enum transport)_i, "/api/flow?pieces=700"), 700);
    expect_pieces(site_get(site, (enum transport)_i, "/api/flow?pieces=0"), 0);
}
END_TEST

START_TEST(pieces_from_a_thread)
{
    expect_pieces(site_get(site, (enum transport)_i, "/api/flow?how=thread&pieces=60"), 60);
}
END_TEST

START_TEST(the_connection_goes_on)
{
    struct wire *wire = wire_open(site->plain->port);
    for (int i = 0; i < 3; i++) {
        wire_print(wire,
                   "GET /api/flow?pieces=3 HTTP/1.1\r\n" HOST "\r\nGET /b.txt HTTP/1.1\r\n" HOST "\r\n");
        expect_pieces(wire_answer(wire, "GET"), 3);
        answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    }
    wire_print(wire, "HEAD /api/flow?how=wait HTTP/1.1\r\n" HOST "\r\nGET /b.txt HTTP/1.1\r\n" HOST "\r\n");
    answer_expect_text(wire_answer(wire, "HEAD"), 200, "");
    answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    wire_close(wire);
}
END_TEST

START_TEST(http_1_0_is_told_by_the_end)
{
    static const char request[] =
        "GET /api/flow?pieces=30 HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n";
    struct answer *answer = wire_once(site->plain->port, request, sizeof request - 1);
    expect_pieces(answer, 30);
    ck_assert_ptr_null(answer_field(answer, "transfer-encoding"));
    answer_expect_field(answer, "connection", "close");
}
END_TEST

START_TEST(what_is_set_after_the_head_is_ignored)
{
    struct answer *answer = site_get(site, (enum transport)_i, "/api/flow?how=late&pieces=1");
    expect_pieces(answer, 1);
    answer_expect_field(answer, "x-flow", "late");
    ck_assert_ptr_null(answer_field(answer, "x-late"));
}
END_TEST

/* ---- clients that leave ---- */

static long left(void)
{
    return strtol(client_get(site->plain, HTTP1, "/api/flow?how=left")->body, NULL, 10);
}

static void await_left(long count)
{
    for (int i = 0; i < 200 && left() < count; i++)
        pause_ms(20);
    ck_assert_int_eq(left(), count);
}

START_TEST(case_55_a_client_that_leaves_is_told_at_once)
{
    char piece[PIECE];
    const long before = left();
    for (int i = 0; i < 3; i++) {
        struct wire *wire = wire_open(site->plain->port);
        wire_print(wire, "GET /api/flow?how=wait HTTP/1.1\r\n" HOST "\r\n");
        ck_assert(wire_take(wire, piece, sizeof piece));
        wire_reset(wire);
    }
    await_left(before + 3);
    struct frames *frames = frames_start(site->plain, false);
    frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "GET", "/api/flow?how=wait");
    frames_head(frames, 1);
    frames_reset(frames, 1, NGHTTP2_CANCEL);
    frames_expect_alive(frames);
    await_left(before + 4);
    frames_close(frames);
}
END_TEST

/* The server keeps no more than the queue and what was written since it was full. */
START_TEST(a_function_that_does_not_listen_loses_a_slow_client)
{
    struct wire *wire = wire_open(site->plain->port);
    wire_print(wire, "GET /api/flow?how=deaf&pieces=3000 HTTP/1.1\r\n" HOST "\r\n");
    char piece[PIECE];
    size_t taken = 0;
    while (taken < 3000 && wire_take(wire, piece, sizeof piece))
        taken++;
    ck_assert_uint_lt(taken, 3000);
    wire_close(wire);
    answer_expect_text(client_get(site->plain, HTTP1, "/b.txt"), 200, "bbb");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream");
    TCase *tests = harness_case(suite, "stream", setup, teardown);
    tcase_add_loop_test(tests, pieces_from_the_loop_as_there_is_room, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, pieces_from_a_thread, 0, TRANSPORT_COUNT);
    tcase_add_test(tests, the_connection_goes_on);
    tcase_add_test(tests, http_1_0_is_told_by_the_end);
    tcase_add_loop_test(tests, what_is_set_after_the_head_is_ignored, 0, TRANSPORT_COUNT);
    tcase_add_test(tests, case_55_a_client_that_leaves_is_told_at_once);
    tcase_add_test(tests, a_function_that_does_not_listen_loses_a_slow_client);
    return harness_run(suite);
}
