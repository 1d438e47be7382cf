/* Server-sent events: story news, over HTTP/1.1 and HTTP/2. */
#include "frames.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "Host: x.test\r\n"
#define LISTENERS 20 /* over both loops */

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/stories/news.c", "news");
    folder_add_function(folder, "tests/e2e/functions/feeds.c", "feeds");
    server = server_start(folder, (const char *const[]){"THREADS=2", "STREAM_QUEUE=100000", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

/* Everything up to and with that text. */
static char *read_to(struct wire *wire, const char *text)
{
    static char got[65536];
    size_t len = 0;
    do {
        ck_assert_uint_lt(len, sizeof got - 1);
        ck_assert(wire_take(wire, got + len, 1));
        got[++len] = '\0';
    } while (len < strlen(text) || strcmp(got + len - strlen(text), text) != 0);
    return got;
}

static struct wire *listen_with(const char *path, const char *fields)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET %s HTTP/1.1\r\n" HOST "%s\r\n", path, fields);
    const char *head = read_to(wire, "retry: 3000\n\n");
    ck_assert_ptr_nonnull(strstr(head, "content-type: text/event-stream\r\n"));
    ck_assert_ptr_nonnull(strstr(head, "transfer-encoding: chunked\r\n"));
    return wire;
}

static void publish_to(const char *path, const char *body)
{
    struct request request = {.path = path, .body = body, .len = strlen(body)};
    answer_expect(client_send(server, &request), 202);
}

/* An event's id and data, whatever chunks it came in. */
static void expect_event(struct wire *wire, const char *lines, char *ret_id)
{
    read_to(wire, "id: ");
    size_t len = strcspn(strcpy(ret_id, read_to(wire, "\n")), "\n");
    ret_id[len] = '\0';
    char *data = read_to(wire, "\n\n");
    ck_assert_str_eq(data, lines);
}

START_TEST(all_hear_all_in_order)
{
    struct wire *wires[LISTENERS];
    char first[64], id[64], last[64] = "";
    for (int i = 0; i < LISTENERS; i++)
        wires[i] = listen_with("/api/news", "");
    for (int n = 0; n < 30; n++)
        publish_to("/api/news", text_print("number %d", n));
    for (int i = 0; i < LISTENERS; i++) {
        *last = '\0';
        for (int n = 0; n < 30; n++) {
            expect_event(wires[i], text_print("data: number %d\n\n", n), id);
            ck_assert_int_gt(strcmp(id, last), 0);
            strcpy(last, id);
            if (n == 0)
                strcpy(first, id);
        }
        wire_close(wires[i]);
    }
    struct wire *back = listen_with("/api/news", text_print("Last-Event-ID: %s\r\n", first));
    for (int n = 1; n < 30; n++)
        expect_event(back, text_print("data: number %d\n\n", n), id);
    publish_to("/api/news", "one more");
    expect_event(back, "data: one more\n\n", id);
    wire_close(back);
}
END_TEST

START_TEST(lines_are_split_as_clients_join_them)
{
    static const struct {
        const char *body, *lines;
    } rows[] = {
        {"a\nb", "data: a\ndata: b\n\n"},
        {"a\r\nb\rc", "data: a\ndata: b\ndata: c\n\n"},
        {"", "data: \n\n"},
        {"a\n", "data: a\ndata: \n\n"},
        {"id: 7\ndata: x", "data: id: 7\ndata: data: x\n\n"},
    };
    struct wire *wire = listen_with("/api/news", "");
    char id[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        publish_to("/api/news", rows[i].body);
        expect_event(wire, rows[i].lines, id);
    }
    wire_close(wire);
}
END_TEST

START_TEST(several_topics_have_one_id)
{
    char id[64];
    struct wire *wire = listen_with("/api/feeds?topics=x,y", "");
    publish_to("/api/feeds?topic=x", "to x");
    expect_event(wire, "data: to x\n\n", id);
    publish_to("/api/feeds?topic=y", "to y");
    publish_to("/api/feeds?topic=z", "to z");
    expect_event(wire, "data: to y\n\n", id);
    wire_close(wire);
    publish_to("/api/feeds?topic=x", "x again");
    wire = listen_with("/api/feeds?topics=x,y", text_print("Last-Event-ID: %s\r\n", id));
    expect_event(wire, "data: x again\n\n", id);
    publish_to("/api/feeds?topic=y", "nothing between");
    expect_event(wire, "data: nothing between\n\n", id);
    wire_close(wire);
}
END_TEST

START_TEST(ids_that_no_server_sent)
{
    static const char *const ids[] = {"", "x", "-1", "99999999999999999999999", "1,2,3,4", ",", "0"};
    char id[64];
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct wire *wire = listen_with("/api/feeds?topics=odd", text_print("Last-Event-ID: %s\r\n", ids[i]));
        publish_to("/api/feeds?topic=odd", "still here");
        expect_event(wire, "data: still here\n\n", id);
        wire_close(wire);
    }
}
END_TEST

START_TEST(a_client_that_does_not_read_is_cut_off)
{
    struct wire *deaf = listen_with("/api/news", "");
    char id[64], rest[4096], *body = malloc(100001);
    size_t taken = 0;
    memset(body, 'x', 100000);
    body[100000] = '\0';
    for (int i = 0; i < 200; i++)
        publish_to("/api/news", body);
    while (wire_take(deaf, rest, sizeof rest))
        taken += sizeof rest;
    ck_assert_uint_lt(taken, 200 * 100000);
    wire_close(deaf);
    free(body);
    struct wire *other = listen_with("/api/news", "");
    publish_to("/api/news", "for others");
    expect_event(other, "data: for others\n\n", id);
    wire_close(other);
}
END_TEST

START_TEST(over_http2_a_stream_beside_others)
{
    struct frames *frames = frames_start(server, false);
    struct frame frame;
    frames_request(frames, 1, NGHTTP2_FLAG_END_STREAM, "GET", "/api/news");
    answer_expect_field(frames_head(frames, 1), "content-type", "text/event-stream");
    ck_assert(frames_find(frames, NGHTTP2_DATA, &frame));
    publish_to("/api/news", "for all");
    ck_assert(frames_find(frames, NGHTTP2_DATA, &frame));
    ck_assert_uint_eq(frame.stream, 1);
    ck_assert_ptr_nonnull(memmem(frame.payload, frame.len, "data: for all\n\n", 15));
    frames_request(frames, 3, NGHTTP2_FLAG_END_STREAM, "GET", "/healthz");
    answer_expect_text(frames_answer(frames, 3), 200, "ok\n");
    frames_reset(frames, 1, NGHTTP2_CANCEL);
    publish_to("/api/news", "for others");
    frames_expect_alive(frames);
    frames_close(frames);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("feed");
    TCase *tests = harness_case(suite, "feed", setup, teardown);
    tcase_add_test(tests, all_hear_all_in_order);
    tcase_add_test(tests, lines_are_split_as_clients_join_them);
    tcase_add_test(tests, several_topics_have_one_id);
    tcase_add_test(tests, ids_that_no_server_sent);
    tcase_add_test(tests, a_client_that_does_not_read_is_cut_off);
    tcase_add_test(tests, over_http2_a_stream_beside_others);
    return harness_run(suite);
}
