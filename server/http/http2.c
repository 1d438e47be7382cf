#include "http/http2.h"

#include "base/alloc.h"
#include "base/log.h"
#include "http/app.h"
#include "http/http2_session.h"

#include <stdlib.h>

#define HEAD_TOLERANCE 4 /* times header_limit: a head beyond that costs the connection, not just a 431 */

static const struct protocol http2_protocol;

static const struct settings *settings_of(const struct http2 *http2)
{
    return http2->transport->loop->app->settings;
}

static int64_t now_of(const struct http2 *http2)
{
    return http2->transport->loop->now;
}

/* ---- what a client may not do too often ---- */

static int fail(struct http2 *http2, uint32_t code)
{
    http2->failed = true;
    http2->failure = code;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* For each thing that costs us work and brings the client no answer. What a client earns back by time and by
   requests that it sees through is more than any honest one spends. */
static int spend_credit(struct http2 *http2)
{
    int64_t earned = (now_of(http2) - http2->credit_since) * HTTP2_CREDIT_PER_S / 1000;
    if (earned > 0) {
        http2->credit_since = now_of(http2);
        http2->credit = http2->credit + earned > HTTP2_CREDIT ? HTTP2_CREDIT : http2->credit + earned;
    }
    return --http2->credit >= 0 ? 0 : fail(http2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static void earn_credit(struct http2 *http2)
{
    if (http2->credit < HTTP2_CREDIT)
        http2->credit++;
}

/* ---- streams ---- */

/* A stream lives in the arena of its request. */
static void open_stream(struct http2 *http2, int32_t id)
{
    struct transport *transport = http2->transport;
    struct request *request = request_create(transport->loop, transport, &http2_stream_ops, NULL);
    struct http2_stream *stream = arena_zalloc(&request->arena, sizeof *stream);
    stream->http2 = http2;
    stream->id = id;
    stream->request = request;
    request->stream = stream;
    list_append(&http2->streams, &stream->link);
    http2->stream_count++;
    http2->head_since = http2->progress = now_of(http2);
    nghttp2_session_set_stream_user_data(http2->session, id, stream);
}

static void note_sent(struct http2_stream *stream)
{
    if (stream->sending)
        stream->http2->sending--;
    stream->sending = false;
}

static void close_stream(struct http2_stream *stream)
{
    struct http2 *http2 = stream->http2;
    note_sent(stream);
    if (!stream->begun)
        http2->head_since = 0;
    list_remove(&stream->link);
    http2->stream_count--;
    request_destroy(stream->request);
}

static void begin_request(struct http2_stream *stream, bool ended)
{
    struct request *request = stream->request;
    int status = http2_head_finish(&stream->head, request);
    uint64_t length = ended ? 0 : stream->head.has_length ? stream->head.length : REQUEST_BODY_UNKNOWN;
    stream->http2->head_since = 0;
    stream->begun = true;
    stream->ended = ended;
    request->expects_continue = request->expects_continue && !ended;
    if (status != 0)
        request_fail(request, status);
    else
        request_begin(request, length);
    if (request->expects_continue && !request->responded)
        http2_submit_continue(stream);
}

static void end_request(struct http2_stream *stream)
{
    stream->ended = true;
    if (!stream->request->responded)
        request_end(stream->request);
}

/* ---- what nghttp2 tells ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    (void)session;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        open_stream(arg, frame->hd.stream_id);
    return 0;
}

static cg_str bytes_of(nghttp2_rcbuf *text)
{
    nghttp2_vec bytes = nghttp2_rcbuf_get_buf(text);
    return cg_bytes(bytes.base, bytes.len);
}

/* Trailers are counted and dropped. */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
                     nghttp2_rcbuf *value, uint8_t flags, void *arg)
{
    struct http2 *http2 = arg;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    size_t limit = settings_of(http2)->header_limit;
    (void)flags;
    if (stream == NULL)
        return 0;
    if (stream->begun)
        stream->head.size += bytes_of(name).len + bytes_of(value).len + HTTP2_FIELD_OVERHEAD;
    else
        http2_head_add(&stream->head, stream->request, bytes_of(name), bytes_of(value), limit);
    return stream->head.size > HEAD_TOLERANCE * limit ? fail(http2, NGHTTP2_ENHANCE_YOUR_CALM) : 0;
}

/* By itself nghttp2 would just skip the field; then we and a proxy before us could see different requests. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
                             nghttp2_rcbuf *value, uint8_t flags, void *arg)
{
    (void)session;
    (void)frame;
    (void)name;
    (void)value;
    (void)flags;
    (void)arg;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_headers(struct http2_stream *stream, const nghttp2_frame *frame)
{
    bool ended = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        begin_request(stream, ended);
    if (ended)
        end_request(stream);
    return 0;
}

static int on_data_end(struct http2 *http2, struct http2_stream *stream, const nghttp2_frame *frame)
{
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        end_request(stream);
    else if (frame->hd.length <= frame->data.padlen)
        return spend_credit(http2);
    return 0;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2 *http2 = arg;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        return stream != NULL ? on_headers(stream, frame) : 0;
    case NGHTTP2_DATA:
        return stream != NULL ? on_data_end(http2, stream, frame) : 0;
    case NGHTTP2_PING:
    case NGHTTP2_SETTINGS:
    case NGHTTP2_RST_STREAM:
        return spend_credit(http2);
    default:
        return 0;
    }
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

/* Bodies never pile up here, so the connection's window is given back at once, a stream's as its request
   takes the bytes. */
static int on_data_chunk_recv(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                              size_t len, void *arg)
{
    struct http2 *http2 = arg;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)flags;
    http2->progress = now_of(http2);
    nghttp2_session_consume_connection(session, len);
    if (stream == NULL)
        return 0;
    if (stream->request->responded)
        stream->dropped += len;
    else
        request_body(stream->request, (const char *)data, len);
    if (stream->dropped <= HTTP2_DROP_LIMIT)
        nghttp2_session_consume_stream(session, id, len);
    stop_sender(stream);
    return 0;
}

static void finish_answer(struct http2_stream *stream)
{
    note_sent(stream);
    earn_credit(stream->http2);
    stop_sender(stream);
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2 *http2 = arg;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    bool content = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR)
        return spend_credit(http2);
    if (content)
        http2->progress = now_of(http2);
    if (content && stream != NULL && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        finish_answer(stream);
    return 0;
}

/* A head that can't be sent (it is too large, say) must not leave its stream open for ever. */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int error, void *arg)
{
    struct http2 *http2 = arg;
    bool open = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id) != NULL;
    if (frame->hd.type != NGHTTP2_HEADERS || !open)
        return 0;
    log_debug("%s: HTTP/2: an answer could not be sent: %s", http2->transport->ip, nghttp2_strerror(error));
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct http2 *http2 = arg;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)code;
    if (stream != NULL) {
        http2->progress = now_of(http2);
        close_stream(stream);
    }
    return 0;
}

/* ---- life ---- */

static nghttp2_session *create_session(struct http2 *http2)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    nghttp2_session *session = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_send_callback(callbacks, http2_send);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, http2_send_data);
    if (nghttp2_option_new(&option) == 0) {
        nghttp2_option_set_no_auto_window_update(option, 1);
        nghttp2_option_set_no_closed_streams(option, 1);
        nghttp2_option_set_max_outbound_ack(option, HTTP2_MAX_ACKS);
        nghttp2_session_server_new2(&session, callbacks, http2, option);
        nghttp2_option_del(option);
    }
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

static void submit_settings(struct http2 *http2)
{
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, HTTP2_MAX_STREAMS},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2_STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)settings_of(http2)->header_limit},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    nghttp2_submit_settings(http2->session, NGHTTP2_FLAG_NONE, entries, sizeof entries / sizeof *entries);
    nghttp2_session_set_local_window_size(http2->session, NGHTTP2_FLAG_NONE, 0, HTTP2_CONNECTION_WINDOW);
}

/* ---- turns ---- */

static void end_connection(struct http2 *http2, uint32_t code)
{
    struct transport *transport = http2->transport;
    nghttp2_session_terminate_session(http2->session, code);
    nghttp2_session_send(http2->session);
    transport_close(transport, true);
}

static void arm(struct http2 *http2)
{
    const struct settings *settings = settings_of(http2);
    int64_t deadline;
    if (http2->head_since != 0)
        deadline = http2->head_since + settings->header_timeout;
    else if (http2->stream_count == 0)
        deadline = http2->progress + settings->idle_timeout;
    else if (http2->sending > 0)
        deadline = http2->progress + settings->write_timeout;
    else
        deadline = http2->progress + settings->body_timeout;
    transport_deadline(http2->transport, deadline);
}

static void submit_goaway(struct http2 *http2)
{
    if (!http2->draining)
        nghttp2_submit_shutdown_notice(http2->session);
    http2->draining = true;
}

/* Ends each call from below: sends what there is to send, and decides how it goes on. False: http2 is freed.
 */
static bool settle(struct http2 *http2)
{
    nghttp2_session *session = http2->session;
    http2->busy = false;
    if (http2->transport->lost)
        return true;
    if (!http2->failed && nghttp2_session_send(session) != 0)
        fail(http2, http2->failed ? http2->failure : NGHTTP2_INTERNAL_ERROR);
    bool finished = !nghttp2_session_want_read(session) && !nghttp2_session_want_write(session);
    bool drained = http2->draining && http2->stream_count == 0;
    bool answered = http2->transport->ended && http2->sending == 0;
    if (http2->failed || finished || drained || answered) {
        end_connection(http2, http2->failed ? http2->failure : NGHTTP2_NO_ERROR);
        return false;
    }
    arm(http2);
    return true;
}

void http2_settle(struct http2 *http2)
{
    struct transport *transport = http2->transport;
    if (!http2->busy && settle(http2))
        transport_flush(transport);
}

static size_t input(struct transport *transport, const char *data, size_t len)
{
    struct http2 *http2 = transport->state;
    http2->busy = true;
    ssize_t used = nghttp2_session_mem_recv(http2->session, (const uint8_t *)data, len);
    if (used < 0 && !http2->failed)
        fail(http2, used == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
    if (used < 0)
        log_debug("%s: HTTP/2: %s", transport->ip, nghttp2_strerror((int)used));
    settle(http2);
    return len;
}

static void writable(struct transport *transport)
{
    settle(transport->state);
}

static void end_of_input(struct transport *transport)
{
    settle(transport->state);
}

static void drain(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    submit_goaway(http2);
    http2_settle(http2);
}

/* Who does not take its answers is dropped; who does not send its request is told so, on each stream. At the
   next time there is no stream left that was not told. */
static void timeout(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    if (http2->sending > 0) {
        transport_abort(transport);
        return;
    }
    if (http2->head_since != 0 || http2->stream_count == 0) {
        end_connection(http2, NGHTTP2_NO_ERROR);
        return;
    }
    http2->busy = true;
    http2->progress = now_of(http2);
    submit_goaway(http2);
    list_for_each (link, &http2->streams) {
        struct http2_stream *stream = list_item(link, struct http2_stream, link);
        if (!stream->request->responded)
            request_fail(stream->request, 408);
        else
            nghttp2_submit_rst_stream(http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    }
    settle(http2);
}

static void gone(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    list_for_each (link, &http2->streams)
        close_stream(list_item(link, struct http2_stream, link));
    nghttp2_session_del(http2->session);
    free(http2);
}

static const struct protocol http2_protocol = {
    .input = input,
    .end_of_input = end_of_input,
    .writable = writable,
    .timeout = timeout,
    .drain = drain,
    .gone = gone,
};

void http2_start(struct transport *transport)
{
    struct http2 *http2 = xzalloc(sizeof *http2);
    http2->transport = transport;
    list_init(&http2->streams);
    http2->credit = HTTP2_CREDIT;
    http2->credit_since = http2->progress = now_of(http2);
    http2->session = create_session(http2);
    if (http2->session == NULL)
        abort(); /* out of memory: as xalloc would */
    transport->state = http2;
    transport->protocol = &http2_protocol;
    submit_settings(http2);
    if (transport->loop->draining)
        submit_goaway(http2);
    nghttp2_session_send(http2->session);
    transport_deadline(transport, now_of(http2) + settings_of(http2)->header_timeout);
}
