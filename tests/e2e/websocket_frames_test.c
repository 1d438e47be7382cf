/* Frames, as strict as RFC 6455, section 5 says, in one piece and byte by byte; and compressed messages
   (RFC 7692). The route echoes. */
#include "harness.h"
#include "site.h"
#include "socket.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define LIMIT 100000 /* bytes of a message */

static struct site *site;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    folder_print(folder, "apiconfig.yaml",
                 "WEBSOCKET:\n"
                 "  /echo: { path: socket.so, messageLimit: %d }\n"
                 "  /plain: { path: socket.so, compress: false }\n"
                 "  /large: { path: socket.so, messageLimit: 32MB, queueLimit: 32MB }\n",
                 LIMIT);
    site = site_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    site_stop(site);
}

static struct socket *open_with(int transport, const char *path, const char *fields)
{
    return site_socket(site, (enum transport)transport, path, fields, NULL);
}

/* ---- scripts: frames as "first byte = payload", in hex, with blanks between them ---- */

static const struct {
    const char *sent,
        *expected; /* ends with a close frame, of whose payload only the code is given, and the end */
} scripts[] = {
    /* Messages, empty and in fragments. */
    {"81=68656c6c6f 88=03e8", "81=68656c6c6f 88=03e8"},
    {"82=00ff 88=03e8", "82=00ff 88=03e8"},
    {"81= 82= 88=03e8", "81= 82= 88=03e8"},
    {"01=6865 00=6c 80=6c6f 88=03e8", "81=68656c6c6f 88=03e8"},
    {"02= 00= 80= 88=03e8", "82= 88=03e8"},
    {"01= 80=61 88=03e8", "81=61 88=03e8"},
    /* Case 61: characters cut in two; texts that are none. */
    {"01=ce 00=ba 00=e1 00=bd 00=b9 00=cf 00=83 00=ce 00=bc 00=ce 80=b5 88=03e8",
     "81=cebae1bdb9cf83cebcceb5 88=03e8"},
    {"01=ceba 00=eda080 80=65", "88=03ef"},
    {"01=ceba 00=eda080", "88=03ef"}, /* at once, not at the end */
    {"81=ceba65edab", "88=03ef"},
    {"81=c0af", "88=03ef"},
    {"81=f4908080", "88=03ef"},
    {"81=f8", "88=03ef"},
    {"81=ce", "88=03ef"},
    {"01=ce 80=", "88=03ef"},
    {"82=ce 88=03e8", "82=ce 88=03e8"},
    {"88=03e8ff", "88=03ef"},
    {"88=03e8ceba", "88=03e8"},
    /* Case 62: control frames between fragments, and what they may not be. */
    {"01=48656c 89=70 80=6c6f 88=03e8", "8a=70 81=48656c6c6f 88=03e8"},
    {"89= 89=6162 88=03e8", "8a= 8a=6162 88=03e8"},
    {"8a=61 8a= 81=61 88=03e8", "81=61 88=03e8"},
    {"09=61", "88=03ea"},
    {"0a=61", "88=03ea"},
    {"08=03e8", "88=03ea"},
    {"80=61", "88=03ea"},
    {"00=61", "88=03ea"},
    {"01=61 81=62", "88=03ea"},
    {"01=61 02=62", "88=03ea"},
    {"01=61 80=62 80=63", "81=6162 88=03ea"},
    {"c1=61", "88=03ea"},
    {"a1=61", "88=03ea"},
    {"91=61", "88=03ea"},
    {"c9=61", "88=03ea"},
    {"83=61", "88=03ea"},
    {"87=", "88=03ea"},
    {"8b=", "88=03ea"},
    {"8f=61", "88=03ea"},
    {"81=61 83= 81=62", "81=61 88=03ea"},
    /* Case 63: the closing handshake. */
    {"88=03e8627965", "88=03e8"},
    {"88=", "88="},
    {"88=03", "88=03ea"},
    {"88=03e9", "88=03e9"},
    {"88=03eb", "88=03eb"},
    {"88=03ec", "88=03ea"},
    {"88=03ed", "88=03ea"},
    {"88=03ee", "88=03ea"},
    {"88=03ef", "88=03ef"},
    {"88=03f3", "88=03f3"},
    {"88=03f6", "88=03f6"},
    {"88=03f7", "88=03ea"},
    {"88=03f8", "88=03ea"},
    {"88=0000", "88=03ea"},
    {"88=03e7", "88=03ea"},
    {"88=044c", "88=03ea"},
    {"88=07d0", "88=03ea"},
    {"88=0bb7", "88=03ea"},
    {"88=0bb8", "88=0bb8"},
    {"88=1387", "88=1387"},
    {"88=1388", "88=03ea"},
    {"88=ffff", "88=03ea"},
    {"88=03e8 81=61", "88=03e8"},
    {"88=03e8 88=03ea", "88=03e8"},
    {"01=61 88=03e8", "88=03e8"},
};

static size_t unhex(const char *hex, char *out)
{
    size_t len = 0;
    unsigned byte;
    for (; isxdigit((unsigned char)hex[0]) && sscanf(hex, "%2x", &byte) == 1; hex += 2)
        out[len++] = (char)byte;
    return len;
}

static void send_script(struct socket *socket, const char *script)
{
    char payload[256];
    for (const char *at = script; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        socket_send(socket, (unsigned)strtoul(at, NULL, 16), payload, unhex(at + 3, payload));
    }
}

static void expect_script(struct socket *socket, const char *script)
{
    struct socket_frame frame;
    char payload[256];
    for (const char *at = script; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        ck_assert_msg(socket_next(socket, &frame), "the end where '%s' is expected", at);
        const unsigned first = (unsigned)strtoul(at, NULL, 16);
        size_t len = unhex(at + 3, payload);
        ck_assert_msg(frame.first == first && frame.len >= len && memcmp(frame.data, payload, len) == 0 &&
                          (frame.len == len || (first == 0x88 && len == 2)),
                      "0x%x with %zu bytes where '%s' is expected", frame.first, frame.len, at);
    }
    socket_expect_end(socket);
}

START_TEST(cases_61_62_63_frames)
{
    for (int transport = HTTP1; transport <= HTTP2; transport++) {
        struct socket *socket = open_with(transport, "/echo", "");
        send_script(socket, scripts[_i].sent);
        expect_script(socket, scripts[_i].expected);
        socket_drop(socket);
    }
}
END_TEST

static size_t put_frame(unsigned char *out, unsigned first, const char *data, size_t len)
{
    static const unsigned char mask[4] = {1, 2, 3, 4};
    out[0] = (unsigned char)first;
    out[1] = (unsigned char)(0x80 | len);
    memcpy(out + 2, mask, sizeof mask);
    for (size_t i = 0; i < len; i++)
        out[6 + i] = (unsigned char)data[i] ^ mask[i % 4];
    return 6 + len;
}

START_TEST(frames_may_come_byte_by_byte)
{
    unsigned char bytes[100];
    size_t len = put_frame(bytes, 0x01, "h\xc3\xa9l", 4);
    len += put_frame(bytes + len, 0x89, "ping", 4);
    len += put_frame(bytes + len, 0x80, "lo", 2);
    len += put_frame(bytes + len, 0x82, "", 0);
    for (size_t step = 1; step <= len; step += step < 8 ? 1 : 13) {
        struct socket *socket = open_with(_i, "/echo", "");
        struct socket_frame frame;
        for (size_t at = 0; at < len; at += step) {
            socket_raw(socket, bytes + at, step < len - at ? step : len - at);
            nanosleep(&(struct timespec){0, 500000}, NULL);
        }
        ck_assert(socket_next(socket, &frame));
        ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_PONG);
        ck_assert_str_eq(frame.data, "ping");
        socket_expect_text(socket, "h\xc3\xa9llo");
        ck_assert(socket_next(socket, &frame));
        ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_BINARY);
        socket_finish(socket);
    }
}
END_TEST

static const struct {
    const char *bytes;
    size_t len;
} heads[] = {
    {"\x81\x05hello", 7},                          /* without a mask */
    {"\x81\xfe\x00\x05\x00\x00\x00\x00hello", 13}, /* longer than need be */
    {"\x81\xff\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00", 14},
    {"\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 14}, /* more than 63 bits */
    {"\x89\xfe\x00\x7e\x00\x00\x00\x00", 8},                          /* a ping of 126 bytes */
    {"\x88\xfe", 2},
    {"\x89\xff", 2},
    {"\xf1", 1}, /* the first byte is enough */
    {"\x85", 1},
};

START_TEST(heads_that_are_none)
{
    for (int transport = HTTP1; transport <= HTTP2; transport++) {
        struct socket *socket = open_with(transport, "/echo", "");
        socket_raw(socket, heads[_i].bytes, heads[_i].len);
        socket_expect_close(socket, 1002);
        socket_expect_end(socket);
        socket_drop(socket);
    }
}
END_TEST

START_TEST(every_length_comes_back)
{
    static const size_t sizes[] = {0, 1, 125, 126, 127, 128, 65535, 65536, LIMIT};
    struct socket *socket = open_with(_i, "/echo", "");
    struct socket_frame frame;
    char *data = bytes_make(LIMIT, 7);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        socket_send(socket, SOCKET_FIN | SOCKET_BINARY, data, sizes[i]);
        ck_assert(socket_next(socket, &frame));
        ck_assert_uint_eq(frame.len, sizes[i]);
        ck_assert_int_eq(memcmp(frame.data, data, sizes[i]), 0);
    }
    socket_finish(socket);
}
END_TEST

START_TEST(larger_messages_are_refused_by_their_head)
{
    static const char head[] = "\x82\xff\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00";
    char *data = bytes_make(LIMIT, 7);
    struct socket *socket = open_with(_i, "/echo", "");
    socket_raw(socket, head, sizeof head - 1);
    socket_expect_close(socket, 1009);
    socket_drop(socket);

    socket = open_with(_i, "/echo", "");
    socket_send(socket, SOCKET_BINARY, data, LIMIT - 1);
    socket_send(socket, SOCKET_MORE, data, 1);
    socket_send(socket, SOCKET_FIN | SOCKET_PING, "x", 1);
    socket_send(socket, SOCKET_FIN | SOCKET_MORE, data, 1);
    struct socket_frame frame;
    ck_assert(socket_next(socket, &frame));
    ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_PONG);
    socket_expect_close(socket, 1009);
    socket_drop(socket);
}
END_TEST

START_TEST(a_message_of_16_megabytes)
{
    const size_t size = 16 << 20, piece = 64 << 10;
    char *data = bytes_make(size, 3);
    struct socket *socket = open_with(_i, "/large", "");
    struct socket_frame frame;
    for (size_t at = 0; at < size; at += piece)
        socket_send(socket, (at == 0 ? SOCKET_BINARY : SOCKET_MORE) | (at + piece == size ? SOCKET_FIN : 0),
                    data + at, piece);
    ck_assert(socket_next(socket, &frame));
    ck_assert_uint_eq(frame.len, size);
    ck_assert_int_eq(memcmp(frame.data, data, size), 0);
    socket_finish(socket);
}
END_TEST

/* ---- compression ---- */

static const struct {
    const char *offer, *answer; /* NULL: without */
} offers[] = {
    {"permessage-deflate", "permessage-deflate; server_no_context_takeover; client_no_context_takeover"},
    {"permessage-deflate; client_max_window_bits",
     "permessage-deflate; server_no_context_takeover; client_no_context_takeover"},
    {"x-webkit-deflate-frame, permessage-deflate; client_max_window_bits=12; server_no_context_takeover",
     "permessage-deflate; server_no_context_takeover; client_no_context_takeover"},
    {"permessage-deflate; server_max_window_bits=10",
     "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10"},
    {"permessage-deflate; server_max_window_bits=8, permessage-deflate",
     "permessage-deflate; server_no_context_takeover; client_no_context_takeover"},
    {"permessage-deflate; server_max_window_bits=8", NULL},
    {"permessage-deflate; server_max_window_bits=16", NULL},
    {"permessage-deflate; server_max_window_bits", NULL},
    {"permessage-deflate; client_max_window_bits=7", NULL},
    {"permessage-deflate; server_no_context_takeover=1", NULL},
    {"permessage-deflate; unknown", NULL},
    {"permessage-deflate; client_max_window_bits; client_max_window_bits", NULL},
    {"permessage-bzip2", NULL},
};

START_TEST(offers_of_compression)
{
    for (int transport = HTTP1; transport <= HTTP2; transport++) {
        struct answer *answer;
        struct socket *socket =
            site_socket(site, (enum transport)transport, "/echo",
                        text_print("sec-websocket-extensions: %s\r\n", offers[_i].offer), &answer);
        if (offers[_i].answer != NULL)
            answer_expect_field(answer, "sec-websocket-extensions", offers[_i].answer);
        else
            ck_assert_ptr_null(answer_field(answer, "sec-websocket-extensions"));
        socket_finish(socket);
        socket = site_socket(site, (enum transport)transport, "/plain",
                             text_print("sec-websocket-extensions: %s\r\n", offers[_i].offer), &answer);
        ck_assert_ptr_null(answer_field(answer, "sec-websocket-extensions"));
        socket_finish(socket);
    }
}
END_TEST

#define DEFLATE "sec-websocket-extensions: permessage-deflate\r\n"

static char *pack(const char *data, size_t len, int flush, size_t *ret_len)
{
    z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)len};
    size_t size = len + len / 100 + 100;
    char *out = malloc(size);
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)size;
    ck_assert_int_ge(deflate(&stream, flush), Z_OK);
    *ret_len = size - stream.avail_out - (flush == Z_SYNC_FLUSH ? 4 : 0);
    deflateEnd(&stream);
    return out;
}

static void expect_unpacked(const struct socket_frame *frame, const char *data, size_t len, int bits)
{
    z_stream stream = {.next_in = (Bytef *)frame->data, .avail_in = (uInt)frame->len};
    char *out = malloc(len + 1);
    ck_assert_int_eq(inflateInit2(&stream, -bits), Z_OK);
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)len + 1;
    ck_assert_int_ge(inflate(&stream, Z_SYNC_FLUSH), Z_OK);
    stream.next_in = (Bytef *)"\0\0\xff\xff";
    stream.avail_in = 4;
    int result = inflate(&stream, Z_SYNC_FLUSH);
    ck_assert_msg(result == Z_OK || result == Z_BUF_ERROR, "inflate: %d", result);
    ck_assert_uint_eq(len + 1 - stream.avail_out, len);
    ck_assert_int_eq(memcmp(out, data, len), 0);
    inflateEnd(&stream);
    free(out);
}

static char *make_text(size_t len)
{
    char *text = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = "the quick brown fox jumps over the lazy dog; "[(i * i / 7 + i) % 45];
    text[len] = '\0';
    return text;
}

START_TEST(compressed_messages_come_back_compressed)
{
    static const size_t sizes[] = {0, 1, 64, 127, 128, 1000, 40000, LIMIT};
    struct socket *socket = open_with(_i, "/echo", DEFLATE);
    struct socket_frame frame;
    size_t packed_len;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = make_text(sizes[i]), *packed = pack(text, sizes[i], Z_SYNC_FLUSH, &packed_len);
        for (int parts = 1; parts < 4; parts++) {
            size_t part = packed_len / (size_t)parts;
            for (int k = 0; k < parts; k++)
                socket_send(socket,
                            (k == 0 ? SOCKET_TEXT | SOCKET_PACKED : SOCKET_MORE) |
                                (k == parts - 1 ? SOCKET_FIN : 0),
                            packed + (size_t)k * part, k == parts - 1 ? packed_len - (size_t)k * part : part);
            ck_assert(socket_next(socket, &frame));
            if (sizes[i] < 128) {
                ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_TEXT);
                ck_assert_str_eq(frame.data, text);
            } else {
                ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_TEXT | SOCKET_PACKED);
                expect_unpacked(&frame, text, sizes[i], 15);
            }
        }
    }
    socket_finish(socket);
}
END_TEST

START_TEST(a_smaller_window_is_kept)
{
    struct socket *socket =
        open_with(_i, "/echo", "sec-websocket-extensions: permessage-deflate; server_max_window_bits=9\r\n");
    struct socket_frame frame;
    char *text = make_text(50000);
    socket_send(socket, SOCKET_FIN | SOCKET_TEXT, text, 50000);
    ck_assert(socket_next(socket, &frame));
    ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_TEXT | SOCKET_PACKED);
    expect_unpacked(&frame, text, 50000, 9);
    socket_finish(socket);
}
END_TEST

START_TEST(blocks_may_be_ended_for_good)
{
    struct socket *socket = open_with(_i, "/echo", DEFLATE);
    size_t len;
    char *packed = pack("hello", 5, Z_FINISH, &len);
    packed[len++] = 0; /* as RFC 7692, section 7.2.3.4 has it */
    socket_send(socket, SOCKET_FIN | SOCKET_TEXT | SOCKET_PACKED, packed, len);
    socket_expect_text(socket, "hello");
    socket_finish(socket);
}
END_TEST

static void expect_refused(int transport, const char *packed, size_t len, int code)
{
    struct socket *socket = open_with(transport, "/echo", DEFLATE);
    socket_send(socket, SOCKET_FIN | SOCKET_TEXT | SOCKET_PACKED, packed, len);
    socket_expect_close(socket, code);
    socket_expect_end(socket);
    socket_drop(socket);
}

START_TEST(what_cannot_be_unpacked_or_becomes_too_large)
{
    size_t len;
    char *zeros = calloc(1, 50 << 20), *packed = pack(zeros, 50 << 20, Z_SYNC_FLUSH, &len);
    ck_assert_uint_lt(len, LIMIT);
    expect_refused(_i, packed, len, 1009);
    expect_refused(_i, "\xff\xff\xff", 3, 1007);
    packed = pack("\xed\xa0\x80", 3, Z_SYNC_FLUSH, &len);
    expect_refused(_i, packed, len, 1007);
    struct socket *socket = open_with(_i, "/echo", DEFLATE);
    socket_send(socket, SOCKET_TEXT, "a", 1);
    socket_send(socket, SOCKET_FIN | SOCKET_MORE | SOCKET_PACKED, "a",
                1); /* only on the first of a message */
    socket_expect_close(socket, 1002);
    socket_drop(socket);
}
END_TEST

START_TEST(broadcasts_fit_each_listener)
{
    struct socket *sender = open_with(_i, "/echo", ""), *packed = open_with(_i, "/echo", DEFLATE);
    struct socket *small =
        open_with(_i, "/echo", "sec-websocket-extensions: permessage-deflate; server_max_window_bits=9\r\n");
    struct socket *const all[] = {sender, packed, small};
    struct socket_frame frame;
    char text[400];
    for (int i = 0; i < 3; i++) {
        socket_text(all[i], "/topic fit");
        socket_expect_text(all[i], "subscribed");
    }
    memset(text, 'x', sizeof text);
    memcpy(text, "/tell fit ", 10);
    text[250] = '\0';
    for (int round = 0; round < 3; round++) {
        socket_text(sender, text);
        socket_expect_text(sender, text + 10);
        socket_expect_text(small, text + 10);
        ck_assert(socket_next(packed, &frame));
        ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_TEXT | SOCKET_PACKED);
        expect_unpacked(&frame, text + 10, 240, 15);
    }
    for (int i = 0; i < 3; i++)
        socket_finish(all[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("websocket frames");
    TCase *tests = harness_case(suite, "frames", setup, teardown);
#define LOOP(test) tcase_add_loop_test(tests, test, HTTP1, HTTP2 + 1)
#define TABLE(test, rows) tcase_add_loop_test(tests, test, 0, (int)(sizeof rows / sizeof *rows))
    TABLE(cases_61_62_63_frames, scripts);
    LOOP(frames_may_come_byte_by_byte);
    TABLE(heads_that_are_none, heads);
    LOOP(every_length_comes_back);
    LOOP(larger_messages_are_refused_by_their_head);
    tcase_add_loop_test(tests, a_message_of_16_megabytes, HTTP1, TLS1 + 1);
    TABLE(offers_of_compression, offers);
    LOOP(compressed_messages_come_back_compressed);
    LOOP(a_smaller_window_is_kept);
    LOOP(blocks_may_be_ended_for_good);
    LOOP(what_cannot_be_unpacked_or_becomes_too_large);
    LOOP(broadcasts_fit_each_listener);
    return harness_run(suite);
}
