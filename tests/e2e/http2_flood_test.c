/* What costs the server work and brings the client nothing, again and again on one HTTP/2 connection: it is
   ended with ENHANCE_YOUR_CALM, others are served meanwhile, and nothing piles up. */
#include "frames.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 6000           /* rounds of one flood */
#define FEW 100             /* of one whose first round is enough */
#define RAPID_RESETS 100000 /* of the one that has become famous (CVE-2023-44487) */
#define OTHERS 20000        /* between these another client asks */
#define MEMORY_SLACK \
    (32 << 20) /* what a worker may have grown by after all floods; sanitizers keep freed memory */

static struct server *server;

static void start(const char *const environment[])
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/b.txt", "bbb");
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/calls.c", "calls");
    server = server_start(folder, environment);
}

static void setup_plain(void)
{
    start((const char *const[]){NULL});
}

static void setup_tls(void)
{
    start((const char *const[]){"SSL=1", "SSL_PORT=0", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static long resident(void)
{
    long pages = 0, total = 0;
    FILE *file = fopen(text_print("/proc/%d/statm", server->worker), "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld %ld", &total, &pages), 2);
    fclose(file);
    return pages * 4096;
}

/* ---- the floods: the ith round, on a connection where stream 1 is open ---- */

static uint32_t fresh(unsigned i)
{
    return 3 + 2 * i;
}

static void rapid_reset(struct frames *frames, unsigned i)
{
    frames_request(frames, fresh(i), NGHTTP2_FLAG_END_STREAM, "GET", "/b.txt");
    frames_reset(frames, fresh(i), NGHTTP2_CANCEL);
}

static void rapid_reset_of_uploads(struct frames *frames, unsigned i)
{
    frames_request(frames, fresh(i), 0, "POST", "/api/echo");
    frames_reset(frames, fresh(i), NGHTTP2_CANCEL);
}

static void made_to_reset_by_overflow(struct frames *frames, unsigned i)
{
    frames_request(frames, fresh(i), 0, "POST", "/api/echo");
    frames_window(frames, fresh(i), 0x7fffffff);
}

static void made_to_reset_by_malformed_heads(struct frames *frames, unsigned i)
{
    frames_request(frames, fresh(i), NGHTTP2_FLAG_END_STREAM, "GET", "");
}

static void made_to_reset_by_length(struct frames *frames, unsigned i)
{
    struct block block;
    block.len = 0;
    block_request(&block, "POST", "/api/echo");
    block_add(&block, "content-length", "1");
    frames_send(frames, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, fresh(i), block.bytes, block.len);
    frames_send(frames, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, fresh(i), "two", 3);
}

static void resets_of_closed_streams(struct frames *frames, unsigned i)
{
    if (i == 0)
        frames_reset(frames, 1, NGHTTP2_CANCEL);
    frames_reset(frames, 1, NGHTTP2_CANCEL);
}

static void pings(struct frames *frames, unsigned i)
{
    char token[9];
    snprintf(token, sizeof token, "%08u", i);
    frames_send(frames, NGHTTP2_PING, 0, 0, token, 8);
}

static void ping_acks(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "unasked", 8);
}

static void empty_settings(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

static void window_settings(struct frames *frames, unsigned i)
{
    frames_settings(frames, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000 + i % 1000);
}

static void table_settings(struct frames *frames, unsigned i)
{
    frames_settings(frames, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, i % 2 ? 0 : 4096);
}

static void empty_data(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_DATA, 0, 1, NULL, 0);
}

static void padding(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\x03\0\0", 4);
}

static void connection_windows(struct frames *frames, unsigned i)
{
    (void)i;
    frames_window(frames, 0, 1);
}

static void stream_windows(struct frames *frames, unsigned i)
{
    (void)i;
    frames_window(frames, 1, 1);
}

static void unknown_frames(struct frames *frames, unsigned i)
{
    frames_send(frames, 11 + i % 200, 0xff, i % 2, "unknown", 7);
}

static void alternative_services(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_ALTSVC, 0, 1, "\0", 2);
}

static void priorities(struct frames *frames, unsigned i)
{
    frames_send(frames, NGHTTP2_PRIORITY, 0, fresh(i), "\0\0\0\0\x10", 5);
}

static void priority_updates(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_PRIORITY_UPDATE, 0, 0, "\0\0\0\x01u=1", 7);
}

static void goaways(struct frames *frames, unsigned i)
{
    (void)i;
    frames_send(frames, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0", 8);
}

static void continuations(struct frames *frames, unsigned i)
{
    if (i == 0)
        frames_send(frames, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 3, "\x82", 1);
    frames_send(frames, NGHTTP2_CONTINUATION, 0, 3, NULL, 0);
}

static void continuations_with_fields(struct frames *frames, unsigned i)
{
    struct block block;
    block.len = 0;
    if (i == 0)
        block_request(&block, "GET", "/b.txt");
    block_add(&block, "x", text_print("%u", i));
    frames_send(frames, i == 0 ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION, 0, 3, block.bytes, block.len);
}

/* One field in the decoder's table, then references to it of one byte each: 16 kB that are 60 MB. */
static void references(struct frames *frames, unsigned i)
{
    struct block block;
    char value[3900];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    block.len = 0;
    block_request(&block, "GET", "/b.txt");
    block_add(&block, "x-large", value);
    block.bytes[block.len - 3899 - 3 - 7 - 1 - 1] = 0x40; /* with incremental indexing */
    while (block.len < FRAMES_MAX_SIZE)
        block_append(&block, "\xbe", 1);
    frames_send(frames, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS, fresh(i),
                block.bytes, block.len);
}

/* Small as bytes, large as the server has to keep them (RFC 9113, section 6.5.2). */
static void tiny_fields(struct frames *frames, unsigned i)
{
    struct block head, rest;
    head.len = rest.len = 0;
    block_request(&head, "GET", "/b.txt");
    while (rest.len < FRAMES_MAX_SIZE - 8)
        block_append(&rest, "\x00\x01x\x01y", 5);
    frames_send(frames, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, fresh(i), head.bytes, head.len);
    frames_send(frames, NGHTTP2_CONTINUATION, 0, fresh(i), rest.bytes, rest.len);
    frames_send(frames, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, fresh(i), rest.bytes, rest.len);
}

static const struct flood {
    const char *name;
    void (*round)(struct frames *frames, unsigned i);
    unsigned rounds;
} floods[] = {
    {"rapid reset", rapid_reset, MANY},
    {"rapid reset of uploads", rapid_reset_of_uploads, MANY},
    {"resets that we are made to send: a window too large", made_to_reset_by_overflow, MANY},
    {"resets that we are made to send: malformed heads", made_to_reset_by_malformed_heads, MANY},
    {"resets that we are made to send: content-length", made_to_reset_by_length, MANY},
    {"resets of closed streams", resets_of_closed_streams, MANY},
    {"PING", pings, MANY},
    {"PING with ACK", ping_acks, MANY},
    {"SETTINGS without a parameter", empty_settings, MANY},
    {"SETTINGS that move windows", window_settings, MANY},
    {"SETTINGS that shrink the table", table_settings, MANY},
    {"empty DATA", empty_data, MANY},
    {"DATA of padding", padding, MANY},
    {"WINDOW_UPDATE of the connection", connection_windows, MANY},
    {"WINDOW_UPDATE of a stream", stream_windows, MANY},
    {"unknown frames", unknown_frames, MANY},
    {"ALTSVC", alternative_services, MANY},
    {"PRIORITY", priorities, MANY},
    {"PRIORITY_UPDATE", priority_updates, MANY},
    {"GOAWAY", goaways, MANY},
    {"CONTINUATION, empty", continuations, MANY},
    {"CONTINUATION without end", continuations_with_fields, MANY},
    {"references to a large field", references, FEW},
    {"tiny fields", tiny_fields, FEW},
};

#define COUNT ((int)(sizeof floods / sizeof *floods))

static void run(const struct flood *flood, unsigned rounds, bool tls)
{
    struct frames *frames = frames_start(server, tls);
    enum transport other = tls ? TLS1 : HTTP1;
    frames_request(frames, 1, 0, "POST", "/api/echo");
    for (unsigned i = 0; i < rounds; i++) {
        flood->round(frames, i);
        if (i % OTHERS == OTHERS - 1)
            answer_expect_text(client_get(server, other, "/b.txt"), 200, "bbb");
    }
    frames_expect_goaway(frames, NGHTTP2_ENHANCE_YOUR_CALM);
    frames_close(frames);
    answer_expect_text(client_get(server, other, "/b.txt"), 200, "bbb");
}

START_TEST(floods_end_the_connection)
{
    run(&floods[_i], floods[_i].rounds, false);
}
END_TEST

START_TEST(floods_end_the_connection_over_tls)
{
    run(&floods[_i], floods[_i].rounds, true);
}
END_TEST

START_TEST(floods_leave_nothing_behind)
{
    for (int i = 0; i < COUNT; i++)
        run(&floods[i], floods[i].rounds, false);
    long before = resident();
    for (int i = 0; i < COUNT; i++)
        run(&floods[i], floods[i].rounds, false);
    long grown = resident() - before;
    ck_assert_msg(grown < MEMORY_SLACK, "%ld bytes", grown);
}
END_TEST

START_TEST(a_hundred_thousand_rapid_resets)
{
    long before = resident();
    run(&floods[0], RAPID_RESETS, false);
    long grown = resident() - before;
    ck_assert_msg(grown < MEMORY_SLACK, "%ld bytes", grown);
}
END_TEST

/* What honest clients do a lot of is no flood. */
START_TEST(busy_clients_are_not_ended)
{
    struct frames *frames = frames_start(server, false);
    for (uint32_t stream = 1; stream < 4000; stream += 2) {
        frames_request(frames, stream, 0, "POST", "/api/echo");
        frames_send(frames, NGHTTP2_DATA, 0, stream, "a", 1);
        frames_send(frames, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, "b", 1);
        answer_expect(frames_answer(frames, stream), 200);
    }
    frames_expect_alive(frames);
    frames_close(frames);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http2_flood");
    TCase *plain = harness_case(suite, "plain", setup_plain, teardown);
    tcase_add_loop_test(plain, floods_end_the_connection, 0, COUNT);
    tcase_add_test(plain, a_hundred_thousand_rapid_resets);
    tcase_add_test(plain, floods_leave_nothing_behind);
    tcase_add_test(plain, busy_clients_are_not_ended);
    TCase *tls = harness_case(suite, "tls", setup_tls, teardown);
    tcase_add_loop_test(tls, floods_end_the_connection_over_tls, 0, COUNT);
    return harness_run(suite);
}
