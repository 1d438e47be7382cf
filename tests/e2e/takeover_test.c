/* Compression whose windows live on from one message to the next (RFC 7692, section 7.1.1). */
#include "harness.h"
#include "site.h"
#include "socket.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define OFFER "sec-websocket-extensions: permessage-deflate"

static struct site *site;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    folder_print(folder, "apiconfig.yaml", "WEBSOCKET: { /echo: { path: socket.so, takeover: true } }\n");
    site = site_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    site_stop(site);
}

static struct socket *open_with(int transport, const char *offer, const char *expected)
{
    struct answer *answer;
    struct socket *socket = site_socket(site, (enum transport)transport, "/echo", offer, &answer);
    answer_expect_field(answer, "sec-websocket-extensions", expected);
    return socket;
}

static const struct {
    const char *offer, *answer;
} offers[] = {
    {OFFER "\r\n", "permessage-deflate; server_max_window_bits=12"},
    {OFFER "; client_max_window_bits\r\n",
     "permessage-deflate; client_max_window_bits=12; server_max_window_bits=12"},
    {OFFER "; client_max_window_bits=10; server_max_window_bits=10\r\n",
     "permessage-deflate; server_max_window_bits=10"},
    {OFFER "; server_no_context_takeover\r\n",
     "permessage-deflate; server_no_context_takeover; server_max_window_bits=12"},
    {OFFER "; client_no_context_takeover; client_max_window_bits\r\n",
     "permessage-deflate; client_no_context_takeover; server_max_window_bits=12"},
};

START_TEST(what_is_offered_is_kept_small)
{
    socket_finish(open_with(HTTP1, offers[_i].offer, offers[_i].answer));
}
END_TEST

static size_t pack(z_stream *stream, const char *text, size_t len, char *out, size_t size)
{
    stream->next_in = (Bytef *)text;
    stream->avail_in = (uInt)len;
    stream->next_out = (Bytef *)out;
    stream->avail_out = (uInt)size;
    ck_assert_int_eq(deflate(stream, Z_SYNC_FLUSH), Z_OK);
    return size - stream->avail_out - 4;
}

static size_t unpack(z_stream *stream, char *data, size_t len, char *out, size_t size)
{
    memcpy(data + len, "\0\0\xff\xff", 4);
    stream->next_in = (Bytef *)data;
    stream->avail_in = (uInt)len + 4;
    stream->next_out = (Bytef *)out;
    stream->avail_out = (uInt)size;
    ck_assert_int_eq(inflate(stream, Z_SYNC_FLUSH), Z_OK);
    return size - stream->avail_out;
}

START_TEST(windows_live_on_both_ways)
{
    struct socket *socket = open_with(_i, OFFER "\r\n", "permessage-deflate; server_max_window_bits=12");
    z_stream out = {0}, in = {0};
    char text[512], packed[1024], got[1024];
    size_t first = 0, last = 0;
    ck_assert_int_eq(deflateInit2(&out, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(inflateInit2(&in, -12), Z_OK);
    for (int i = 0; i < 100; i++) {
        struct socket_frame frame;
        size_t len = strlen(strcpy(text, text_print("{\"n\":%d,\"text\":\"%s\"}", i, bytes_digest("x", 1))));
        while (len < 300)
            len += strlen(strcpy(text + len, "and some more of what was said before"));
        size_t size = pack(&out, text, len, packed, sizeof packed);
        socket_send(socket, SOCKET_FIN | SOCKET_PACKED | SOCKET_TEXT, packed, size);
        ck_assert(socket_next(socket, &frame));
        ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_PACKED | SOCKET_TEXT);
        char *answer = realloc(frame.data, frame.len + 4);
        ck_assert_uint_eq(unpack(&in, answer, frame.len, got, sizeof got), len);
        ck_assert_int_eq(memcmp(got, text, len), 0);
        first = i == 0 ? frame.len : first;
        last = frame.len;
    }
    ck_assert_uint_lt(last, first);
    deflateEnd(&out);
    inflateEnd(&in);
    socket_finish(socket);
}
END_TEST

START_TEST(broadcasts_do_not_disturb_them)
{
    struct socket *socket = open_with(_i, OFFER "\r\n", "permessage-deflate; server_max_window_bits=12");
    char text[400];
    memset(text, 'x', sizeof text);
    memcpy(text, "/tell fit ", 10);
    text[250] = '\0';
    socket_text(socket, "/topic fit");
    socket_expect_text(socket, "subscribed");
    for (int i = 0; i < 3; i++) {
        socket_text(socket, text);
        socket_expect_text(socket, text + 10);
    }
    socket_finish(socket);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("takeover");
    TCase *tests = harness_case(suite, "takeover", setup, teardown);
    tcase_add_loop_test(tests, what_is_offered_is_kept_small, 0, (int)(sizeof offers / sizeof *offers));
    tcase_add_loop_test(tests, windows_live_on_both_ways, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(tests, broadcasts_do_not_disturb_them, HTTP1, HTTP2 + 1);
    return harness_run(suite);
}
