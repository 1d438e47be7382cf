#include "http/app.h"
#include "http/websocket.h"
#include "http/websockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_SHARE 2     /* of the queue's limit: with more waiting for it, a client is not read */
#define BUFFER_KEPT 65536 /* bytes of the loop's buffer for messages that are kept for the next one */

static bool is_behind(const struct websocket *ws)
{
    return atomic_load(&ws->tunnel.out.queued) > ws->rules->queue_limit / PAUSE_SHARE;
}

/* What waits goes first: hooks, and what the client has to take. */
static bool may_take(const struct websocket *ws)
{
    return ws->hook == WEBSOCKET_NO_HOOK && ws->due == 0 && !ws->holding && !ws->close_taken &&
           !is_behind(ws);
}

/* ---- control frames ---- */

/* RFC 6455, section 5.5.1. A code that is sent back says that it was understood. */
static void take_close(struct websocket *ws, const char *data, size_t len)
{
    int code = WS_NO_CODE;
    if (len >= 2)
        code = (unsigned char)data[0] << 8 | (unsigned char)data[1];
    if (len == 1 || (len >= 2 && !ws_code_valid(code))) {
        websocket_fail(ws, WS_PROTOCOL_ERROR, "a close code that means nothing");
        return;
    }
    if (len > 2 && !utf8_valid(data + 2, len - 2)) {
        websocket_fail(ws, WS_BAD_DATA, "a reason that is no UTF-8");
        return;
    }
    ws->code = code;
    if (len > 2) {
        free(ws->reason);
        ws->reason = strndup(data + 2, len - 2);
    }
    websocket_fail(ws, code, NULL);
}

/* A control frame is waited for until it is whole; it may stand between the fragments of a message. */
static size_t take_control(struct websocket *ws, const struct ws_frame *frame, size_t head, const char *data,
                           size_t len)
{
    char payload[WS_CONTROL_MAX];
    const size_t size = (size_t)frame->len;
    if (len < head + size)
        return 0;
    ws_frame_unmask(payload, data + head, size, frame->mask, 0);
    if (frame->opcode == WS_CLOSE)
        take_close(ws, payload, size);
    else if (frame->opcode == WS_PING)
        websocket_control(ws, WS_PONG, payload, size);
    return head + size;
}

/* ---- messages ---- */

static void refuse_size(struct websocket *ws)
{
    websocket_fail(ws, WS_TOO_LARGE, "the message is too large");
}

static void refuse_text(struct websocket *ws)
{
    websocket_fail(ws, WS_BAD_DATA, "the text is no UTF-8");
}

/* Text is looked at as it comes, so that a mistake is told at once; packed text when it is unpacked. */
static bool is_good_text(struct websocket *ws, const char *data, size_t len)
{
    return ws->kind != WS_TEXT || ws->packed || utf8_feed(&ws->utf8, data, len);
}

/* For the function's hook on the pool it has to be the socket's own memory. */
static void tell(struct websocket *ws, struct buffer *message)
{
    if (ws->event.action->blocking && message != &ws->message) {
        buffer_finish(&ws->message);
        buffer_append(&ws->message, message->data, message->len);
    }
    ws->loop->counts.websocket_messages++;
    websocket_tell_message(ws, cg_bytes(message->data ? message->data : "", message->len));
}

static void tell_packed(struct websocket *ws)
{
    struct websockets *all = websockets_of(ws->loop);
    struct buffer packed = ws->message;
    ws->message = (struct buffer){0};
    all->message.len = 0;
    int error = message_unpack(ws->coding ? ws->coding : all->coding, packed.data ? packed.data : "",
                               packed.len, (size_t)ws->rules->message_limit, &all->message);
    buffer_finish(&packed);
    if (error == -EMSGSIZE)
        refuse_size(ws);
    else if (error != 0)
        websocket_fail(ws, WS_BAD_DATA, "the message can't be unpacked");
    else if (ws->kind == WS_TEXT && !utf8_valid(all->message.data, all->message.len))
        refuse_text(ws);
    else
        tell(ws, &all->message);
    if (all->message.capacity > BUFFER_KEPT)
        buffer_finish(&all->message);
}

static void end_frame(struct websocket *ws, struct buffer *message)
{
    ws->in_frame = false;
    if (!ws->frame.fin)
        return;
    if (ws->packed)
        tell_packed(ws);
    else if (ws->kind == WS_TEXT && !utf8_is_whole(&ws->utf8))
        refuse_text(ws);
    else
        tell(ws, message);
}

static void append_unmasked(struct websocket *ws, struct buffer *message, const char *data, size_t len)
{
    buffer_reserve(message, len + 1);
    char *out = message->data + message->len;
    ws_frame_unmask(out, data, len, ws->frame.mask, ws->frame_at);
    out[len] = '\0';
    message->len += len;
    ws->frame_at += len;
}

/* A message that has come whole goes through memory of the loop's: the socket needs none. */
static size_t take_payload(struct websocket *ws, const char *data, size_t len)
{
    const uint64_t left = ws->frame.len - ws->frame_at;
    const size_t size = len < left ? len : (size_t)left;
    const bool whole = ws->frame.fin && ws->frame_at == 0 && ws->message.len == 0 && size == left;
    struct buffer *message = whole && !ws->packed ? &websockets_of(ws->loop)->message : &ws->message;
    if (message != &ws->message)
        message->len = 0;
    const size_t before = message->len;
    append_unmasked(ws, message, data, size);
    if (!is_good_text(ws, message->data + before, size))
        refuse_text(ws);
    else if (ws->frame_at == ws->frame.len)
        end_frame(ws, message);
    if (whole && message->capacity > BUFFER_KEPT && message != &ws->message)
        buffer_finish(message);
    return size;
}

static void begin_message(struct websocket *ws, const struct ws_frame *frame)
{
    ws->kind = frame->opcode;
    ws->packed = frame->packed;
    ws->utf8 = (struct utf8){0};
}

/* What the head of a frame tells is enough to refuse it: nothing is kept for it. */
static size_t take_head(struct websocket *ws, const char *data, size_t len)
{
    struct ws_frame frame;
    int head = ws_frame_read(data, len, ws->bits != 0, &frame);
    if (head < 0)
        websocket_fail(ws, -head, "a frame that is none");
    if (head <= 0)
        return head < 0 ? len : 0;
    if (ws_opcode_is_control(frame.opcode))
        return take_control(ws, &frame, (size_t)head, data, len);
    if ((frame.opcode == WS_CONTINUATION) == (ws->kind == WS_CONTINUATION)) {
        websocket_fail(ws, WS_PROTOCOL_ERROR, "a fragment out of turn");
        return len;
    }
    if (frame.len > ws->rules->message_limit - ws->message.len) {
        refuse_size(ws);
        return len;
    }
    if (frame.opcode != WS_CONTINUATION)
        begin_message(ws, &frame);
    ws->frame = frame;
    ws->frame_at = 0;
    ws->in_frame = true;
    return (size_t)head + (frame.len == 0 ? take_payload(ws, data + head, 0) : 0);
}

size_t websocket_input(struct tunnel *tunnel, const char *data, size_t len)
{
    struct websocket *ws = (struct websocket *)tunnel;
    size_t used = 0;
    ws->heard = ws->loop->now;
    ws->taking = true;
    while (used < len && may_take(ws)) {
        size_t taken =
            ws->in_frame ? take_payload(ws, data + used, len - used) : take_head(ws, data + used, len - used);
        used += taken;
        if (taken == 0)
            break;
    }
    ws->taking = false;
    ws->paused = used < len && is_behind(ws);
    return ws->close_taken ? len : used;
}
