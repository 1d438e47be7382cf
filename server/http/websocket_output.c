#include "base/log.h"
#include "http/app.h"
#include "http/websocket.h"
#include "http/websockets.h"
#include "parse/ws_deflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PRESSED_SHARE 4 /* of the limit: a hook that is told of more will hear of room again */

/* Frames of a publication, among those that a delivery keeps. */
#define FRAMING_PLAIN 1
#define FRAMING_PACKED 2

/* What is added while input is taken leaves at its end. */
static void leave_soon(struct websocket *ws)
{
    if (!ws->taking)
        loop_soon(ws->loop, &ws->task);
}

static void add(struct websocket *ws, struct stream_piece *piece)
{
    stream_add(&ws->tunnel.out, piece);
    ws->used = ws->loop->now;
    leave_soon(ws);
}

/* ---- messages ---- */

/* Packed, into memory of the loop: ptr NULL when that would not make it smaller. kept: that of a socket whose
   window lives on, so that all that went into it has to be sent; or NULL. */
static cg_str pack(struct loop *loop, struct message_coding *kept, int bits, const char *data, size_t len)
{
    struct websockets *all = websockets_of(loop);
    struct buffer *out = &all->packed;
    const size_t size = kept ? message_pack_bound(len) : len;
    if (bits == 0 || len < MESSAGE_PACK_MIN)
        return cg_bytes(NULL, 0);
    out->len = 0;
    buffer_reserve(out, size);
    size_t packed = message_pack(kept ? kept : all->coding, bits, data, len, out->data, size);
    return packed > 0 ? cg_bytes(out->data, packed) : cg_bytes(NULL, 0);
}

/* The rule for a client that does not take what is sent to it. */
static void overflow(struct websocket *ws)
{
    ws->loop->counts.websocket_overflows++;
    if (ws->rules->drop)
        return;
    log_debug("%s: %s: more than %llu bytes wait; closed with 1013", ws->event.action->module->file,
              ws->event.public.ip.ptr, (unsigned long long)ws->rules->queue_limit);
    stream_cut(&ws->tunnel.out);
    websocket_close(ws, WS_TRY_LATER, "too slow");
}

static bool is_full(struct websocket *ws)
{
    return atomic_load(&ws->tunnel.out.queued) > ws->rules->queue_limit;
}

static struct stream_piece *make_piece(struct websocket *ws, const char *data, size_t len, cg_kind kind)
{
    char head[WS_FRAME_HEAD_MAX];
    cg_str packed = pack(ws->loop, ws->coding, ws->bits, data, len);
    bool is_packed = packed.ptr != NULL;
    if (!is_packed)
        packed = cg_bytes(data, len);
    size_t size = ws_frame_write(head, kind == CG_TEXT ? WS_TEXT : WS_BINARY, is_packed, packed.len);
    return stream_piece_join(&ws->tunnel.out, head, size, packed.ptr, packed.len);
}

int64_t websocket_send(struct websocket *ws, const char *data, size_t len, cg_kind kind)
{
    if (ws->close_sent)
        return -EPIPE;
    if (is_full(ws)) {
        overflow(ws);
        return -EAGAIN;
    }
    struct stream_piece *piece = make_piece(ws, data, len, kind);
    if (piece == NULL)
        return -ENOMEM;
    add(ws, piece);
    const size_t queued = atomic_load(&ws->tunnel.out.queued);
    if (queued > ws->rules->queue_limit / PRESSED_SHARE)
        ws->pressed = true;
    return (int64_t)queued;
}

/* ---- publications ---- */

static struct topic_frame *frame_message(cg_str data, cg_kind kind, bool packed)
{
    char head[WS_FRAME_HEAD_MAX];
    size_t size = ws_frame_write(head, kind == CG_TEXT ? WS_TEXT : WS_BINARY, packed, data.len);
    struct topic_frame *frame = topic_frame_create(size + data.len);
    memcpy(frame->bytes, head, size);
    memcpy(frame->bytes + size, data.ptr, data.len);
    return frame;
}

static struct topic_frame *plain_frame(struct delivery *delivery)
{
    struct topic_frame **frame = &delivery->frames[FRAMING_PLAIN];
    if (*frame == NULL)
        *frame = frame_message(delivery->publication->data, delivery->publication->kind, false);
    return *frame;
}

/* One that packing does not make smaller is plain to all. */
static struct topic_frame *packed_frame(struct loop *loop, int bits, struct delivery *delivery)
{
    const struct publication *publication = delivery->publication;
    struct topic_frame **frame = &delivery->frames[FRAMING_PACKED];
    if (*frame != NULL)
        return *frame;
    cg_str packed = pack(loop, NULL, bits, publication->data.ptr, publication->data.len);
    if (packed.ptr != NULL) {
        *frame = frame_message(packed, publication->kind, true);
    } else {
        *frame = plain_frame(delivery);
        (*frame)->references++;
    }
    return *frame;
}

/* Made once for all sockets of the loop. Those with a small window, or one that lives on and would have to
   have seen it, get it plain. */
void websocket_deliver(struct subscriber *subscriber, struct delivery *delivery)
{
    struct websocket *ws = list_item(subscriber, struct websocket, subscriber);
    if (ws->close_sent)
        return;
    if (is_full(ws)) {
        overflow(ws);
        return;
    }
    struct topic_frame *frame = ws->bits == WS_DEFLATE_BITS_MAX && ws->coding == NULL
                                    ? packed_frame(ws->loop, ws->bits, delivery)
                                    : plain_frame(delivery);
    add(ws, stream_piece_share(&ws->tunnel.out, frame));
}

/* ---- control frames ---- */

static struct stream_piece *make_control(struct websocket *ws, enum ws_opcode opcode, const char *data,
                                         size_t len)
{
    char head[WS_FRAME_HEAD_MAX];
    size_t size = ws_frame_write(head, opcode, false, len);
    return stream_piece_join(&ws->tunnel.out, head, size, data, len);
}

void websocket_control(struct websocket *ws, enum ws_opcode opcode, const char *data, size_t len)
{
    struct stream_piece *piece = ws->close_sent ? NULL : make_control(ws, opcode, data, len);
    if (piece == NULL)
        return;
    stream_add_urgent(&ws->tunnel.out, piece);
    leave_soon(ws);
}

/* Cut between two characters. */
static size_t reason_length(const char *reason)
{
    size_t len = reason ? strlen(reason) : 0;
    if (len > WS_REASON_MAX) {
        len = WS_REASON_MAX;
        while (len > 0 && ((unsigned char)reason[len] & 0xc0) == 0x80)
            len--;
    }
    return utf8_valid(reason, len) ? len : 0;
}

void websocket_close(struct websocket *ws, int code, const char *reason)
{
    char payload[WS_CONTROL_MAX] = {(char)(code >> 8), (char)code};
    const size_t reason_len = code == WS_NO_CODE ? 0 : reason_length(reason);
    if (ws->close_sent)
        return;
    ws->close_sent = true;
    if (ws->own_code == 0)
        ws->own_code = code;
    if (ws->reason == NULL && reason_len > 0)
        ws->reason = strndup(reason, reason_len);
    if (reason_len > 0)
        memcpy(payload + 2, reason, reason_len);
    struct stream_piece *piece = make_control(ws, WS_CLOSE, payload, code == WS_NO_CODE ? 0 : 2 + reason_len);
    if (piece != NULL)
        stream_add(&ws->tunnel.out, piece);
    if (ws->close_taken)
        stream_end(&ws->tunnel.out);
    ws->close_by = ws->loop->now + WEBSOCKET_CLOSE_MS;
    timers_set(&ws->loop->timers, &ws->timer, ws->close_by);
    leave_soon(ws);
}

void websocket_fail(struct websocket *ws, int code, const char *reason)
{
    if (ws->close_taken)
        return;
    ws->close_taken = true;
    if (ws->close_sent)
        stream_end(&ws->tunnel.out);
    websocket_close(ws, code, reason);
    leave_soon(ws);
}
