#include "socket.h"

#include "frames.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM 1

struct socket {
    struct wire *wire;     /* HTTP1 and TLS1 */
    struct frames *frames; /* HTTP2 */
    char *pending;         /* of DATA frames, not asked for yet */
    size_t len;
    bool ended;
};

/* ---- the handshake ---- */

static struct wire *open_wire(const struct server *server, enum transport transport)
{
    static const struct tls_options options = {.alpn = "\x08http/1.1"};
    struct wire *wire =
        transport == HTTP1 ? wire_open(server->port) : wire_open_tls(server->tls_port, &options);
    ck_assert_ptr_nonnull(wire);
    return wire;
}

/* "name: value\r\n" lines. */
static void add_fields(struct block *block, const char *fields)
{
    char *copy = text_print("%s", fields), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        char *value = strstr(line, ": ");
        ck_assert_ptr_nonnull(value);
        line[strcspn(line, "\r")] = '\0';
        *value = '\0';
        block_add(block, line, value + 2);
    }
}

static void connect_stream(struct frames *frames, const char *path, const char *fields)
{
    struct block *block = calloc(1, sizeof *block);
    ck_assert_uint_eq(frames_setting(frames, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL), 1);
    block_add(block, ":method", "CONNECT");
    block_add(block, ":protocol", "websocket");
    block_add(block, ":scheme", "https");
    block_add(block, ":path", path);
    block_add(block, ":authority", "x.test");
    if (strstr(fields, "sec-websocket-version") == NULL)
        block_add(block, "sec-websocket-version", "13");
    add_fields(block, fields);
    frames_send(frames, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, STREAM, block->bytes, block->len);
    free(block);
}

static struct socket *begin(const struct server *server, enum transport transport, const char *path,
                            const char *fields, struct answer **ret_answer)
{
    struct socket *socket = calloc(1, sizeof *socket);
    if (transport == HTTP2) {
        socket->frames = frames_start(server, server->port == 0);
        connect_stream(socket->frames, path, fields);
        return socket;
    }
    socket->wire = open_wire(server, transport);
    wire_print(socket->wire, "GET %s HTTP/1.1\r\n" SOCKET_FIELDS "%s\r\n", path, fields);
    *ret_answer = wire_answer(socket->wire, "GET");
    return socket;
}

struct socket *socket_open(const struct server *server, enum transport transport, const char *path,
                           const char *fields, struct answer **ret_answer)
{
    struct answer *answer = NULL;
    struct socket *socket = begin(server, transport, path, fields, &answer);
    if (transport == HTTP2) {
        answer = frames_head(socket->frames, STREAM);
        answer_expect(answer, 200);
    } else {
        answer_expect(answer, 101);
        answer_expect_field(answer, "upgrade", "websocket");
        answer_expect_field(answer, "connection", "Upgrade");
        answer_expect_field(answer, "sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
    if (ret_answer != NULL)
        *ret_answer = answer;
    return socket;
}

struct answer *socket_refused(const struct server *server, enum transport transport, const char *path,
                              const char *fields)
{
    struct answer *answer = NULL;
    struct socket *socket = begin(server, transport, path, fields, &answer);
    if (transport == HTTP2)
        answer = frames_answer(socket->frames, STREAM);
    ck_assert_ptr_nonnull(answer);
    ck_assert_int_ge(answer->status, 300);
    socket_drop(socket);
    return answer;
}

struct socket *site_socket(const struct site *site, enum transport transport, const char *path,
                           const char *fields, struct answer **ret_answer)
{
    return socket_open(site_server(site, transport), transport, path, fields, ret_answer);
}

struct answer *site_socket_refused(const struct site *site, enum transport transport, const char *path,
                                   const char *fields)
{
    return socket_refused(site_server(site, transport), transport, path, fields);
}

/* ---- out ---- */

void socket_raw(struct socket *socket, const void *bytes, size_t len)
{
    const char *at = bytes;
    if (socket->wire != NULL) {
        wire_send(socket->wire, bytes, len);
        return;
    }
    while (len > 0) {
        size_t part = len < FRAMES_MAX_SIZE ? len : FRAMES_MAX_SIZE;
        frames_send(socket->frames, NGHTTP2_DATA, 0, STREAM, at, part);
        at += part;
        len -= part;
    }
}

void socket_send(struct socket *socket, unsigned first, const void *data, size_t len)
{
    static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    unsigned char *frame = malloc(len + 14), *at = frame;
    const size_t more = len > 65535 ? 8 : len > 125 ? 2 : 0;
    *at++ = (unsigned char)first;
    *at++ = (unsigned char)(0x80 | (more == 8 ? 127 : more == 2 ? 126 : len));
    for (size_t i = 0; i < more; i++)
        *at++ = (unsigned char)(len >> 8 * (more - 1 - i));
    memcpy(at, mask, sizeof mask);
    at += sizeof mask;
    for (size_t i = 0; i < len; i++)
        at[i] = ((const unsigned char *)data)[i] ^ mask[i % 4];
    socket_raw(socket, frame, (size_t)(at - frame) + len);
    free(frame);
}

void socket_text(struct socket *socket, const char *text)
{
    socket_send(socket, SOCKET_FIN | SOCKET_TEXT, text, strlen(text));
}

void socket_close_with(struct socket *socket, int code, const char *reason)
{
    char payload[125] = {(char)(code >> 8), (char)code};
    size_t len = strlen(reason);
    memcpy(payload + 2, reason, len);
    socket_send(socket, SOCKET_FIN | SOCKET_CLOSE, payload, 2 + len);
}

/* ---- in ---- */

/* False: the stream has ended. */
static bool fill(struct socket *socket)
{
    struct frame frame;
    while (frames_next(socket->frames, &frame)) {
        if (frame.stream != STREAM || (frame.type != NGHTTP2_DATA && frame.type != NGHTTP2_RST_STREAM))
            continue;
        if (frame.type == NGHTTP2_RST_STREAM)
            return false;
        socket->pending = realloc(socket->pending, socket->len + frame.len + 1);
        memcpy(socket->pending + socket->len, frame.payload, frame.len);
        socket->len += frame.len;
        if (frame.flags & NGHTTP2_FLAG_END_STREAM)
            socket->ended = true;
        if (frame.len > 0 && !socket->ended) {
            frames_window(socket->frames, STREAM, (uint32_t)frame.len);
            frames_window(socket->frames, 0, (uint32_t)frame.len);
        }
        return frame.len > 0 || !socket->ended;
    }
    return false;
}

static bool take(struct socket *socket, void *out, size_t len)
{
    if (socket->wire != NULL)
        return wire_take(socket->wire, out, len);
    while (socket->len < len)
        if (socket->ended || !fill(socket))
            return false;
    memcpy(out, socket->pending, len);
    socket->len -= len;
    memmove(socket->pending, socket->pending + len, socket->len);
    return true;
}

bool socket_next(struct socket *socket, struct socket_frame *ret_frame)
{
    unsigned char head[2], more[8];
    if (!take(socket, head, sizeof head))
        return false;
    size_t len = head[1];
    ck_assert_msg(len <= 127, "a masked frame");
    if (len >= 126) {
        const size_t size = len == 126 ? 2 : 8;
        ck_assert(take(socket, more, size));
        len = 0;
        for (size_t i = 0; i < size; i++)
            len = len << 8 | more[i];
        ck_assert_uint_gt(len, size == 2 ? 125 : 65535);
    }
    *ret_frame = (struct socket_frame){.first = head[0], .len = len, .data = malloc(len + 1)};
    ck_assert(take(socket, ret_frame->data, len));
    ret_frame->data[len] = '\0';
    return true;
}

void socket_expect_text(struct socket *socket, const char *text)
{
    struct socket_frame frame;
    ck_assert_msg(socket_next(socket, &frame), "the end where '%.100s' is expected", text);
    ck_assert_msg(frame.first == (SOCKET_FIN | SOCKET_TEXT),
                  "frame 0x%x where '%.100s' is expected: '%.100s'", frame.first, text, frame.data);
    ck_assert_msg(frame.len == strlen(text) && memcmp(frame.data, text, frame.len) == 0,
                  "'%.100s' where '%.100s' is expected", frame.data, text);
}

void socket_expect_close(struct socket *socket, int code)
{
    struct socket_frame frame;
    ck_assert_msg(socket_next(socket, &frame), "the end without a close frame");
    ck_assert_msg(frame.first == (SOCKET_FIN | SOCKET_CLOSE), "frame 0x%x where a close frame is expected",
                  frame.first);
    int got = frame.len < 2 ? 0 : (unsigned char)frame.data[0] << 8 | (unsigned char)frame.data[1];
    ck_assert_msg(got == code, "closed with %d (%s) where %d is expected", got,
                  frame.len > 2 ? frame.data + 2 : "", code);
}

void socket_expect_end(struct socket *socket)
{
    struct socket_frame frame;
    ck_assert_msg(!socket_next(socket, &frame), "frame 0x%x where the end is expected", frame.first);
}

void socket_expect_told(const struct site *site, enum transport transport, const char *name, const char *told)
{
    char *path = text_print("/api/socket?closed=%s", name);
    for (int i = 0; i < 400; i++) {
        struct answer *answer = site_get(site, transport, path);
        if (strcmp(answer->body, "none") != 0) {
            answer_expect_text(answer, 200, told);
            return;
        }
        pause_ms(20);
    }
    ck_abort_msg("%s: .close was not called", name);
}

void socket_drop(struct socket *socket)
{
    if (socket->wire != NULL)
        wire_close(socket->wire);
    else
        frames_close(socket->frames);
    free(socket->pending);
    free(socket);
}

void socket_finish(struct socket *socket)
{
    socket_close_with(socket, 1000, "");
    socket_expect_close(socket, 1000);
    socket_expect_end(socket);
    socket_drop(socket);
}
