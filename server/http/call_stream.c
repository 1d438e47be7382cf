#include "http/call_stream.h"

#include "base/log.h"
#include "http/app.h"
#include "http/request.h"

#include <errno.h>

typedef void notice(cg_event *event);

struct outflow {
    struct stream stream; /* first */
    struct call *call;
    struct mail begin;
    notice *_Atomic on_drain, *_Atomic on_close;
    bool failed;   /* its head was a mistake, and is a 500 */
    bool reported; /* that its function does not care for a full queue */
};

static struct outflow *outflow_of(const struct call *call);

/* ---- on the loop ---- */

static void on_begin(struct mail *mail)
{
    call_send_head(list_item(mail, struct outflow, begin)->call);
}

static void on_room(struct stream *stream)
{
    struct outflow *out = (struct outflow *)stream;
    notice *told = atomic_load(&out->on_drain);
    if (told != NULL && !atomic_load(&out->call->gone))
        told(&out->call->event.public);
}

static void on_piece(struct mail *mail)
{
    struct stream_piece *piece = list_item(mail, struct stream_piece, mail);
    struct outflow *out = (struct outflow *)piece->stream;
    stream_add(&out->stream, piece);
    call_resume(out->call);
}

/* cg_finish: what was written last goes out, and then comes the end. */
static void done(struct call *call)
{
    struct outflow *out = outflow_of(call);
    struct answer *answer = &call->event.answer;
    answer->sent = false; /* what is added now is the server's own */
    if (out->failed)
        answer_text(answer, 500, "500 - Internal server error");
    struct stream_piece *rest = answer->body_len > 0 && !out->stream.closed
                                    ? stream_piece_create(&out->stream, answer->body, answer->body_len)
                                    : NULL;
    answer->body_len = 0;
    if (rest != NULL)
        stream_add(&out->stream, rest);
    stream_end(&out->stream);
    call_resume(call);
}

static void left(struct call *call)
{
    struct outflow *out = outflow_of(call);
    notice *told = atomic_load(&out->on_close);
    stream_close(&out->stream);
    if (told != NULL)
        told(&call->event.public);
}

static void finish(struct call *call)
{
    stream_close(&outflow_of(call)->stream);
}

static const struct call_way way = {.done = done, .left = left, .finish = finish};

static struct outflow *outflow_of(const struct call *call)
{
    return atomic_load(&call->way) == &way ? call->way_data : NULL;
}

struct stream *call_body(const struct call *call)
{
    return call->way_data; /* whatever the way, the stream comes first */
}

/* ---- from any thread ---- */

int call_stream(struct call *call)
{
    struct outflow *out;
    if (atomic_load(&call->way) != NULL)
        return -EALREADY;
    call_defer(call);
    if (!call->deferred)
        return -EINVAL;
    out = arena_zalloc(&call->arena, sizeof *out);
    stream_init(&out->stream, call->loop->app->settings->stream_queue);
    out->stream.on_drain = on_room;
    out->call = call;
    out->begin.run = on_begin;
    out->failed = call->event.answer.fault != NULL;
    call->way_data = out;
    call->ops->complete(&call->event);
    call->event.answer.sent = true;
    atomic_store(&call->way, &way);
    if (call_in_turn(call))
        call_send_head(call);
    else
        mailbox_post(&call->loop->mailbox, &out->begin);
    return 0;
}

/* A function that goes on writing would fill the memory; its client is cut off instead. */
static int64_t refuse_flush(struct call *call, struct outflow *out)
{
    struct answer *answer = &call->event.answer;
    if (answer->body_len <= out->stream.limit)
        return -EAGAIN;
    if (!out->reported)
        log_error("%s: %s: cg_flush was told -EAGAIN and went on; its client is cut off",
                  call->event.action->module->file, call->event.public.path.ptr);
    out->reported = true;
    answer->body_len = 0;
    atomic_store(&out->stream.overrun, true);
    return -EAGAIN;
}

int64_t call_flush(struct call *call)
{
    struct outflow *out = outflow_of(call);
    struct answer *answer = &call->event.answer;
    if (out == NULL)
        return -EINVAL;
    if (out->failed || atomic_load(&call->gone)) {
        answer->body_len = 0;
        return -EPIPE;
    }
    size_t queued = atomic_load(&out->stream.queued);
    if (answer->body_len == 0)
        return (int64_t)queued;
    if (queued >= out->stream.limit)
        return refuse_flush(call, out);
    struct stream_piece *piece = stream_piece_create(&out->stream, answer->body, answer->body_len);
    if (piece == NULL)
        return -ENOMEM;
    answer->body_len = 0;
    piece->mail.run = on_piece;
    if (call_in_turn(call))
        on_piece(&piece->mail);
    else
        mailbox_post(&call->loop->mailbox, &piece->mail);
    return (int64_t)atomic_load(&out->stream.queued);
}

static notice *_Atomic *notice_of(struct call *call, const char *name, bool drain)
{
    struct outflow *out = outflow_of(call);
    if (out == NULL)
        log_error("%s: %s before cg_stream", call->event.action->module->file, name);
    return out == NULL ? NULL : drain ? &out->on_drain : &out->on_close;
}

void call_on_drain(struct call *call, void (*drain)(cg_event *event))
{
    notice *_Atomic *place = notice_of(call, "cg_on_drain", true);
    if (place != NULL)
        atomic_store(place, drain);
}

void call_on_close(struct call *call, void (*closed)(cg_event *event))
{
    notice *_Atomic *place = notice_of(call, "cg_on_close", false);
    if (place != NULL)
        atomic_store(place, closed);
}
