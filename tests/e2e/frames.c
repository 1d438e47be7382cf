#include "frames.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE 9
#define KNOWN_SETTINGS 16

struct frames {
    struct wire *wire;
    nghttp2_hd_inflater *inflater;
    uint32_t settings[KNOWN_SETTINGS];
    bool announced[KNOWN_SETTINGS];
};

/* ---- what is sent ---- */

static void put_number(unsigned char *out, uint32_t number)
{
    out[0] = (unsigned char)(number >> 24);
    out[1] = (unsigned char)(number >> 16);
    out[2] = (unsigned char)(number >> 8);
    out[3] = (unsigned char)number;
}

void block_append(struct block *block, const void *bytes, size_t len)
{
    if (block->len + len > sizeof block->bytes) /* an assertion that holds is slow, too */
        ck_abort_msg("the head is too large");
    memcpy(block->bytes + block->len, bytes, len);
    block->len += len;
}

/* RFC 7541, section 5.2, without Huffman coding. */
static void append_string(struct block *block, const char *text)
{
    unsigned char head[6] = {0};
    size_t len = strlen(text), used = 1, rest = len;
    head[0] = (unsigned char)(len < 127 ? len : 127);
    if (len >= 127)
        for (rest -= 127;; rest >>= 7) {
            head[used++] = (unsigned char)(rest >= 128 ? 128 | (rest & 127) : rest);
            if (rest < 128)
                break;
        }
    block_append(block, head, used);
    block_append(block, text, len);
}

void block_add(struct block *block, const char *name, const char *value)
{
    block_append(block, "\0", 1);
    append_string(block, name);
    append_string(block, value);
}

void block_request(struct block *block, const char *method, const char *path)
{
    block_add(block, ":method", method);
    block_add(block, ":scheme", "http");
    block_add(block, ":path", path);
    block_add(block, ":authority", "x.test");
}

void frames_raw(struct frames *frames, const void *bytes, size_t len)
{
    wire_send(frames->wire, bytes, len);
}

void frames_send(struct frames *frames, unsigned type, unsigned flags, uint32_t stream, const void *payload,
                 size_t len)
{
    unsigned char *bytes = malloc(HEAD_SIZE + len);
    ck_assert_ptr_nonnull(bytes);
    put_number(bytes, (uint32_t)len << 8 | type);
    bytes[4] = (unsigned char)flags;
    put_number(bytes + 5, stream);
    if (len > 0)
        memcpy(bytes + HEAD_SIZE, payload, len);
    wire_send(frames->wire, bytes, HEAD_SIZE + len);
    free(bytes);
}

void frames_settings(struct frames *frames, unsigned id, uint32_t value)
{
    unsigned char payload[6] = {(unsigned char)(id >> 8), (unsigned char)id};
    put_number(payload + 2, value);
    frames_send(frames, NGHTTP2_SETTINGS, 0, 0, payload, sizeof payload);
}

void frames_window(struct frames *frames, uint32_t stream, uint32_t increment)
{
    unsigned char payload[4];
    put_number(payload, increment);
    frames_send(frames, NGHTTP2_WINDOW_UPDATE, 0, stream, payload, sizeof payload);
}

void frames_reset(struct frames *frames, uint32_t stream, uint32_t code)
{
    unsigned char payload[4];
    put_number(payload, code);
    frames_send(frames, NGHTTP2_RST_STREAM, 0, stream, payload, sizeof payload);
}

void frames_request(struct frames *frames, uint32_t stream, unsigned flags, const char *method,
                    const char *path)
{
    struct block block;
    block.len = 0;
    block_request(&block, method, path);
    frames_send(frames, NGHTTP2_HEADERS, flags | NGHTTP2_FLAG_END_HEADERS, stream, block.bytes, block.len);
}

/* ---- what is received ---- */

uint32_t frame_number(const struct frame *frame, size_t at)
{
    ck_assert_uint_le(at + 4, frame->len);
    const unsigned char *in = frame->payload + at;
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

bool frames_next(struct frames *frames, struct frame *ret_frame)
{
    unsigned char head[HEAD_SIZE];
    struct frame frame = {.payload = (unsigned char *)""};
    if (!wire_take(frames->wire, head, sizeof head))
        return false;
    frame.len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    frame.type = head[3];
    frame.flags = head[4];
    frame.stream = (uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8];
    ck_assert_msg(frame.len <= FRAMES_MAX_SIZE && frame.stream >> 31 == 0, "no frame: %zu bytes, stream %u",
                  frame.len, frame.stream);
    if (frame.len > 0) {
        frame.payload = malloc(frame.len);
        ck_assert_ptr_nonnull(frame.payload);
        ck_assert_msg(wire_take(frames->wire, frame.payload, frame.len), "a frame is cut short");
    }
    *ret_frame = frame;
    return true;
}

bool frames_skip(struct frames *frames)
{
    char byte;
    return wire_take(frames->wire, &byte, 1);
}

bool frames_find(struct frames *frames, unsigned type, struct frame *ret_frame)
{
    while (frames_next(frames, ret_frame))
        if (ret_frame->type == type)
            return true;
    return false;
}

/* The fields of a HEADERS frame as the lines of an HTTP/1 head. They are decoded whether they are wanted or
   not: the table must follow. */
static struct answer *decode(struct frames *frames, const struct frame *frame)
{
    struct answer *answer = calloc(1, sizeof *answer);
    const uint8_t *in = frame->payload;
    size_t len = frame->len;
    int flags = 0;
    ck_assert_ptr_nonnull(answer);
    ck_assert_uint_ne(frame->flags & NGHTTP2_FLAG_END_HEADERS, 0);
    ck_assert_uint_eq(frame->flags & (NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_PRIORITY), 0);
    answer->head = text_print("HTTP/2\r\n");
    answer->body = strdup("");
    answer->version = 20;
    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
        nghttp2_nv field;
        ssize_t used = nghttp2_hd_inflate_hd2(frames->inflater, &field, &flags, in, len, 1);
        ck_assert_msg(used >= 0, "no HPACK: %s", nghttp2_strerror((int)used));
        in += used, len -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0)
            continue;
        if (field.namelen == 7 && memcmp(field.name, ":status", 7) == 0)
            answer->status = atoi((const char *)field.value);
        else
            answer->head = text_print("%s%s: %s\r\n", answer->head, field.name, field.value);
    }
    nghttp2_hd_inflate_end_headers(frames->inflater);
    return answer;
}

struct answer *frames_head(struct frames *frames, uint32_t stream)
{
    struct frame frame;
    ck_assert_msg(frames_find(frames, NGHTTP2_HEADERS, &frame), "the connection ended without an answer");
    ck_assert_uint_eq(frame.stream, stream);
    return decode(frames, &frame);
}

static void append_body(struct frames *frames, struct answer *answer, const struct frame *frame)
{
    answer->body = realloc(answer->body, answer->len + frame->len + 1);
    ck_assert_ptr_nonnull(answer->body);
    memcpy(answer->body + answer->len, frame->payload, frame->len);
    answer->len += frame->len;
    answer->body[answer->len] = '\0';
    if (frame->len == 0)
        return;
    frames_window(frames, 0, (uint32_t)frame->len);
    if ((frame->flags & NGHTTP2_FLAG_END_STREAM) == 0)
        frames_window(frames, frame->stream, (uint32_t)frame->len);
}

struct answer *frames_answer(struct frames *frames, uint32_t stream)
{
    struct answer *answer = NULL;
    struct frame frame;
    while (frames_next(frames, &frame)) {
        struct answer *head = frame.type == NGHTTP2_HEADERS ? decode(frames, &frame) : NULL;
        if (frame.stream != stream)
            continue;
        if (frame.type == NGHTTP2_RST_STREAM)
            return NULL;
        if (head != NULL && head->status >= 200)
            answer = head;
        if (frame.type == NGHTTP2_DATA) {
            ck_assert_msg(answer != NULL, "DATA before HEADERS");
            append_body(frames, answer, &frame);
        }
        if (frame.type <= NGHTTP2_HEADERS && (frame.flags & NGHTTP2_FLAG_END_STREAM) != 0)
            return answer;
    }
    return NULL;
}

/* ---- what is expected ---- */

void frames_expect_alive(struct frames *frames)
{
    static const unsigned char token[8] = "alive?";
    struct frame frame;
    frames_send(frames, NGHTTP2_PING, 0, 0, token, sizeof token);
    do {
        ck_assert_msg(frames_next(frames, &frame), "the connection has ended");
        ck_assert_msg(frame.type != NGHTTP2_GOAWAY, "GOAWAY %u", frame_number(&frame, 4));
    } while (frame.type != NGHTTP2_PING || memcmp(frame.payload, token, sizeof token) != 0);
    ck_assert_uint_eq(frame.flags, NGHTTP2_FLAG_ACK);
}

void frames_expect_goaway(struct frames *frames, uint32_t code)
{
    struct frame frame;
    ck_assert_msg(frames_find(frames, NGHTTP2_GOAWAY, &frame), "the connection ended without GOAWAY");
    ck_assert_uint_eq(frame_number(&frame, 4), code);
    while (frames_next(frames, &frame))
        ;
}

void frames_expect_reset(struct frames *frames, uint32_t stream, uint32_t code)
{
    struct frame frame;
    ck_assert_msg(frames_find(frames, NGHTTP2_RST_STREAM, &frame), "the connection ended without a reset");
    ck_assert_uint_eq(frame.stream, stream);
    ck_assert_uint_eq(frame_number(&frame, 0), code);
    frames_expect_alive(frames);
}

/* ---- life ---- */

struct frames *frames_open(const struct server *server, bool tls)
{
    struct frames *frames = calloc(1, sizeof *frames);
    ck_assert_ptr_nonnull(frames);
    frames->wire = tls ? wire_open_tls(server->tls_port, &(struct tls_options){.alpn = "\x02h2"})
                       : wire_open(server->port);
    ck_assert_ptr_nonnull(frames->wire);
    ck_assert_int_eq(nghttp2_hd_inflate_new(&frames->inflater), 0);
    return frames;
}

static void note_settings(struct frames *frames, const struct frame *frame)
{
    for (size_t at = 0; at + 6 <= frame->len; at += 6) {
        unsigned id = (unsigned)frame->payload[at] << 8 | frame->payload[at + 1];
        if (id >= KNOWN_SETTINGS)
            continue;
        frames->settings[id] = frame_number(frame, at + 2);
        frames->announced[id] = true;
    }
}

uint32_t frames_setting(const struct frames *frames, unsigned id)
{
    ck_assert(id < KNOWN_SETTINGS && frames->announced[id]);
    return frames->settings[id];
}

struct frames *frames_start(const struct server *server, bool tls)
{
    struct frames *frames = frames_open(server, tls);
    struct frame frame;
    bool theirs = false, ours = false;
    frames_raw(frames, FRAMES_PREFACE, sizeof FRAMES_PREFACE - 1);
    frames_send(frames, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    while (!theirs || !ours) {
        ck_assert_msg(frames_find(frames, NGHTTP2_SETTINGS, &frame), "no SETTINGS");
        if (frame.flags & NGHTTP2_FLAG_ACK) {
            ours = true;
            continue;
        }
        theirs = true;
        note_settings(frames, &frame);
        frames_send(frames, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
    }
    return frames;
}

void frames_close(struct frames *frames)
{
    wire_close(frames->wire);
    nghttp2_hd_inflate_del(frames->inflater);
    free(frames);
}
