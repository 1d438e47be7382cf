#include "base/str.h"
#include "http/app.h"
#include "http/dispatch.h"
#include "http/feed.h"
#include "http/http2_session.h"

static const struct settings *settings_of(const struct http2 *http2)
{
    return http2->transport->loop->app->settings;
}

static int64_t now_of(const struct http2 *http2)
{
    return http2->transport->loop->now;
}

/* ---- deadlines ---- */

static void watch(struct http2_stream *stream)
{
    timers_set(&stream->http2->transport->loop->timers, &stream->timer, pace_deadline(&stream->pace));
}

/* The rate that is asked of a body is asked of all bodies together (body_pace); what a single one has to keep
   up is its share when there are as many as there may be. */
static void await_body(struct http2_stream *stream)
{
    const struct settings *settings = settings_of(stream->http2);
    int64_t rate = (int64_t)settings->body_min_rate / HTTP2_MAX_STREAMS;
    pace_begin(&stream->pace, now_of(stream->http2), settings->body_timeout, rate, settings->min_rate_after);
    watch(stream);
}

/* Without a timer yet: most answers leave before anybody has to wait. */
static void await_client(struct http2_stream *stream)
{
    const struct settings *settings = settings_of(stream->http2);
    pace_begin(&stream->pace, now_of(stream->http2), settings->write_timeout,
               (int64_t)settings->write_min_rate, settings->min_rate_after);
}

void http2_streams_watch(struct http2 *http2)
{
    list_for_each (link, &http2->streams) {
        struct http2_stream *stream = list_item(link, struct http2_stream, link);
        if (stream->sending && stream->timer.place == 0)
            watch(stream);
    }
}

/* A client that asked for an answer and then opens no window for it, or one of a few bytes, holds the answer
   and all that it was made of. What still waits for the connection is not the stream's fault: http2.c sees to
   that. */
static void check_answer(struct http2_stream *stream)
{
    struct http2 *http2 = stream->http2;
    if (nghttp2_session_get_stream_remote_window_size(http2->session, stream->id) > 0 ||
        transport_taken(http2->transport) < stream->mark) {
        await_client(stream);
        watch(stream);
        return;
    }
    http2->transport->loop->counts.write_timeouts++;
    nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
}

static void cut_body(struct http2_stream *stream)
{
    if (!stream->request->responded) {
        stream->http2->transport->loop->counts.body_timeouts++;
        request_fail(stream->request, 408);
    } else {
        nghttp2_submit_rst_stream(stream->http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    }
}

static void on_timer(struct timer *timer)
{
    struct http2_stream *stream = list_item(timer, struct http2_stream, timer);
    struct http2 *http2 = stream->http2;
    if (pace_deadline(&stream->pace) > now_of(http2)) { /* it has been moved on meanwhile */
        watch(stream);
        return;
    }
    http2->busy = true;
    if (stream->sending)
        check_answer(stream);
    else if (stream->receiving)
        cut_body(stream);
    http2->busy = false;
    http2_settle(http2);
}

void http2_streams_cut(struct http2 *http2)
{
    list_for_each (link, &http2->streams) {
        struct http2_stream *stream = list_item(link, struct http2_stream, link);
        if (stream->receiving && !stream->sending)
            cut_body(stream);
    }
}

bool http2_streams_stuck(const struct http2 *http2)
{
    list_for_each (link, &http2->streams) {
        const struct http2_stream *stream = list_item(link, struct http2_stream, link);
        if (stream->sending && nghttp2_session_get_stream_remote_window_size(http2->session, stream->id) > 0)
            return true;
    }
    return transport_taken(http2->transport) < http2->transport->sent_bytes;
}

/* ---- what is remembered of closed streams ---- */

void http2_remember(struct http2 *http2, int32_t id, enum http2_end end)
{
    http2->closed[http2->closed_count++ % HTTP2_CLOSED_STREAMS] = (uint32_t)id << 1 | (end == HTTP2_END_OURS);
}

enum http2_end http2_recall(const struct http2 *http2, int32_t id)
{
    size_t known = http2->closed_count < HTTP2_CLOSED_STREAMS ? http2->closed_count : HTTP2_CLOSED_STREAMS;
    for (size_t i = 0; i < known; i++)
        if (http2->closed[i] >> 1 == (uint32_t)id)
            return http2->closed[i] & 1 ? HTTP2_END_OURS : HTTP2_END_CLIENT;
    return HTTP2_END_UNKNOWN;
}

/* ---- life ---- */

/* A stream lives in the arena of its request. */
void http2_stream_open(struct http2 *http2, int32_t id)
{
    struct transport *transport = http2->transport;
    struct request *request = request_create(transport->loop, transport, &http2_stream_ops, NULL);
    struct http2_stream *stream = arena_zalloc(&request->arena, sizeof *stream);
    stream->http2 = http2;
    stream->id = id;
    stream->request = request;
    stream->timer.fire = on_timer;
    request->stream = stream;
    request->version = HTTP_2;
    list_append(&http2->streams, &stream->link);
    http2->stream_count++;
    http2->last_stream = id;
    http2->head_since = http2->progress = now_of(http2);
    nghttp2_session_set_stream_user_data(http2->session, id, stream);
}

static void note_received(struct http2_stream *stream)
{
    if (stream->receiving)
        stream->http2->receiving--;
    stream->receiving = false;
}

static void note_sent(struct http2_stream *stream)
{
    if (stream->sending)
        stream->http2->sending--;
    stream->sending = false;
}

void http2_stream_close(struct http2_stream *stream)
{
    struct http2 *http2 = stream->http2;
    note_received(stream);
    note_sent(stream);
    if (!stream->begun)
        http2->head_since = 0;
    timers_cancel(&http2->transport->loop->timers, &stream->timer);
    http2_remember(http2, stream->id, stream->ended ? HTTP2_END_CLIENT : HTTP2_END_OURS);
    http2->progress = now_of(http2);
    list_remove(&stream->ready);
    list_remove(&stream->link);
    http2->stream_count--;
    http2_tunnel_gone(stream);
    request_destroy(stream->request);
}

/* ---- the request ---- */

static void begin_body(struct http2_stream *stream)
{
    struct http2 *http2 = stream->http2;
    const struct settings *settings = settings_of(http2);
    if (http2->receiving++ == 0)
        pace_begin(&http2->body_pace, now_of(http2), settings->body_timeout, (int64_t)settings->body_min_rate,
                   settings->min_rate_after);
    stream->receiving = true;
    await_body(stream);
}

void http2_stream_begin(struct http2_stream *stream, bool ended)
{
    struct request *request = stream->request;
    int status = http2_head_finish(&stream->head, request);
    request->scheme = request->transport->tls != NULL ? STR("https") : STR("http");
    uint64_t length = ended ? 0 : stream->head.has_length ? stream->head.length : LENGTH_UNKNOWN;
    stream->http2->head_since = 0;
    stream->begun = true;
    request->expects_continue = request->expects_continue && !ended;
    if (!ended && !request->connect)
        begin_body(stream);
    if (status != 0)
        request_fail(request, status);
    else
        dispatch_begin(request, length);
    if (request->connect && !ended && !request->responded)
        list_append(&stream->http2->ready, &stream->ready);
    if (request->expects_continue && !request->responded)
        http2_submit_continue(stream);
}

/* An answer that came before the request had ended keeps the client sending for a while, into nothing:
   clients that get a reset at once forget the answer. When it has been seen for sure, because more came than
   the window held that the client had before, a reset without error tells to stop (RFC 9113, section 8.1). */
static void stop_sender(struct http2_stream *stream)
{
    if (stream->ended || stream->sending || stream->stopped || stream->dropped <= HTTP2_DROP_LIMIT)
        return;
    stream->stopped = true;
    nghttp2_submit_rst_stream(stream->http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
}

/* The stream's window is opened as its request takes the bytes. */
void http2_stream_body(struct http2_stream *stream, const char *data, size_t len)
{
    struct http2 *http2 = stream->http2;
    if (http2_tunnel_takes(stream, data, len))
        return;
    pace_take(&http2->body_pace, now_of(http2), len);
    if (!stream->sending)
        pace_take(&stream->pace, now_of(http2), len);
    if (stream->request->responded)
        stream->dropped += len;
    else
        dispatch_body(stream->request, data, len);
    if (stream->dropped <= HTTP2_DROP_LIMIT)
        nghttp2_session_consume_stream(http2->session, stream->id, len);
    stop_sender(stream);
}

/* The request runs once all that came with it has been looked at: it may have been cancelled already. */
void http2_stream_end(struct http2_stream *stream)
{
    stream->ended = true;
    if (stream->request->response.tunnel != NULL) {
        http2_tunnel_end(stream);
        return;
    }
    note_received(stream);
    if (!stream->sending)
        timers_cancel(&stream->http2->transport->loop->timers, &stream->timer);
    if (!stream->request->responded && !list_linked(&stream->ready))
        list_append(&stream->http2->ready, &stream->ready);
}

void http2_stream_drain(struct http2_stream *stream)
{
    struct tunnel *tunnel = stream->request->response.tunnel;
    if (tunnel != NULL)
        tunnel->user->drain(tunnel);
    else
        feed_end(stream->request->call);
}

void http2_stream_half_close(struct http2_stream *stream)
{
    if (stream->request->response.tunnel != NULL)
        http2_tunnel_end(stream);
    else
        feed_prod(stream->request->call);
}

void http2_streams_run(struct http2 *http2)
{
    while (!list_empty(&http2->ready)) {
        struct http2_stream *stream = list_item(http2->ready.next, struct http2_stream, ready);
        list_remove(&stream->ready);
        dispatch_end(stream->request);
    }
}

/* ---- the answer ---- */

void http2_stream_answer(struct http2_stream *stream)
{
    struct http2 *http2 = stream->http2;
    const struct settings *settings = settings_of(http2);
    int64_t now = now_of(http2);
    if (http2->sending++ == 0) {
        pace_begin(&http2->send_pace, now, settings->write_timeout, (int64_t)settings->write_min_rate,
                   settings->min_rate_after);
        http2->looked = false;
        http2->next_look = now + settings->write_timeout / HTTP2_WRITE_LOOKS;
    }
    stream->sending = true;
    await_client(stream);
}

void http2_stream_sent(struct http2_stream *stream, size_t len)
{
    const struct transport *transport = stream->http2->transport;
    stream->sent += len;
    stream->mark = transport->sent_bytes + transport_pending(transport);
    http2_credit_sent(&stream->http2->credit, len);
    pace_take(&stream->pace, now_of(stream->http2), len);
}

void http2_stream_wait(struct http2_stream *stream)
{
    note_sent(stream);
    stream->waiting = true;
    timers_cancel(&stream->http2->transport->loop->timers, &stream->timer);
}

void http2_stream_answered(struct http2_stream *stream)
{
    struct http2 *http2 = stream->http2;
    note_sent(stream);
    http2_credit_answered(&http2->credit);
    if (stream->request->response.tunnel != NULL && !stream->ended)
        nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    if (stream->receiving)
        await_body(stream);
    stop_sender(stream);
}
