#include "base/log.h"
#include "http/app.h"
#include "http/http2_session.h"

/* ---- each frame, before nghttp2 acts on it ---- */

static struct http2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

/* nghttp2 ignores what comes on streams that it has forgotten. A client that ended its stream knows so; one
   whose stream we have ended may not know it yet (RFC 9113, section 5.1). */
static int judge_forgotten(struct http2 *http2, const struct http2_frame *frame)
{
    enum http2_end end = http2_recall(http2, frame->stream);
    bool all_known = http2->closed_count <= HTTP2_CLOSED_STREAMS;
    if (end == HTTP2_END_CLIENT)
        return http2_fail(http2, NGHTTP2_STREAM_CLOSED);
    if (end == HTTP2_END_UNKNOWN && all_known && frame->type == NGHTTP2_HEADERS &&
        frame->stream < http2->last_stream)
        return http2_fail(http2, NGHTTP2_PROTOCOL_ERROR);
    return http2_spend(http2, 1);
}

/* Streams that we have reset count as open until that is sent. */
static int make_room(struct http2 *http2)
{
    if (http2->stream_count >= HTTP2_MAX_STREAMS)
        nghttp2_session_send(http2->session);
    return http2->failed ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int judge(struct http2 *http2, const struct http2_frame *frame)
{
    bool known = stream_of(http2->session, frame->stream) != NULL;
    switch (frame->type) {
    case NGHTTP2_DATA:
        if (!known)
            return judge_forgotten(http2, frame);
        return frame->len == 0 && !(frame->flags & NGHTTP2_FLAG_END_STREAM) ? http2_spend(http2, 1) : 0;
    case NGHTTP2_HEADERS:
        if (known)
            return http2_spend(http2, 1);
        return judge_forgotten(http2, frame) != 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : make_room(http2);
    case NGHTTP2_PRIORITY:
        if (frame->stream == 0 || frame->parent == frame->stream)
            return http2_fail(http2, NGHTTP2_PROTOCOL_ERROR);
        return http2_spend(http2, 1);
    case NGHTTP2_RST_STREAM:
        return http2_spend(http2, HTTP2_COST_RESET);
    default:
        return http2_spend(http2, 1);
    }
}

static uint32_t code_of(int error)
{
    return error == NGHTTP2_ERR_FLOODED || error == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS
               ? NGHTTP2_ENHANCE_YOUR_CALM
               : NGHTTP2_PROTOCOL_ERROR;
}

/* nghttp2 gets one frame at a time, so that the next one is judged by what it has done. Once it has seen an
   error it wants no more. */
void http2_take(struct http2 *http2, const uint8_t *data, size_t len)
{
    struct http2_frame frame;
    size_t used;
    for (; len > 0 && !http2->failed && nghttp2_session_want_read(http2->session);
         data += used, len -= used) {
        if (http2_frames_take(&http2->frames, data, len, &used, &frame) && judge(http2, &frame) != 0)
            return;
        ssize_t taken = nghttp2_session_mem_recv(http2->session, data, used);
        if (taken >= 0)
            continue;
        log_debug("%s: HTTP/2: %s", http2->transport->ip, nghttp2_strerror((int)taken));
        if (!http2->failed)
            http2_fail(http2, code_of((int)taken));
    }
}

/* ---- what nghttp2 tells ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    (void)session;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        http2_stream_open(arg, frame->hd.stream_id);
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
    struct http2_stream *stream = stream_of(session, frame->hd.stream_id);
    size_t limit = http2->transport->loop->app->settings->header_limit;
    (void)flags;
    if (stream == NULL)
        return 0;
    if (stream->begun)
        stream->head.size += bytes_of(name).len + bytes_of(value).len + HTTP2_FIELD_OVERHEAD;
    else
        http2_head_add(&stream->head, stream->request, bytes_of(name), bytes_of(value), limit);
    return stream->head.size > HTTP2_HEAD_TOLERANCE * limit ? http2_fail(http2, NGHTTP2_ENHANCE_YOUR_CALM)
                                                            : 0;
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

static void on_headers(struct http2_stream *stream, const nghttp2_frame *frame)
{
    bool ended = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        http2_stream_begin(stream, ended);
    if (ended)
        http2_stream_end(stream);
}

/* A frame of nothing but padding is an empty one. */
static int on_data(struct http2 *http2, struct http2_stream *stream, const nghttp2_frame *frame)
{
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        http2_stream_end(stream);
    else if (frame->hd.length > 0 && frame->hd.length <= frame->data.padlen)
        return http2_spend(http2, 1);
    return 0;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2_stream *stream = stream_of(session, frame->hd.stream_id);
    if (stream == NULL)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS)
        on_headers(stream, frame);
    else if (frame->hd.type == NGHTTP2_DATA)
        return on_data(arg, stream, frame);
    else if (frame->hd.type == NGHTTP2_RST_STREAM)
        stream->ended = true;
    return 0;
}

/* Bodies never pile up here, so the connection's window is given back at once. */
static int on_data_chunk_recv(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                              size_t len, void *arg)
{
    struct http2_stream *stream = stream_of(session, id);
    (void)flags;
    (void)arg;
    nghttp2_session_consume_connection(session, len);
    if (stream != NULL)
        http2_stream_body(stream, (const char *)data, len);
    return 0;
}

/* A failure is seen once everything is sent: returned from here it would leave nghttp2 unable to say
   GOAWAY. */
static void on_reset_sent(struct http2 *http2, const struct http2_stream *stream, const nghttp2_frame *frame)
{
    if (stream == NULL)
        http2_remember(http2, frame->hd.stream_id, HTTP2_END_OURS);
    if (frame->rst_stream.error_code != NGHTTP2_NO_ERROR)
        http2_spend(http2, HTTP2_COST_RESET);
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct http2_stream *stream = stream_of(session, frame->hd.stream_id);
    bool content = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (frame->hd.type == NGHTTP2_RST_STREAM)
        on_reset_sent(arg, stream, frame);
    if (content && stream != NULL && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        http2_stream_answered(stream);
    return 0;
}

/* A head that can't be sent (it is too large, say) must not leave its stream open for ever. */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int error, void *arg)
{
    const struct http2 *http2 = arg;
    if (frame->hd.type != NGHTTP2_HEADERS || stream_of(session, frame->hd.stream_id) == NULL)
        return 0;
    log_debug("%s: HTTP/2: an answer could not be sent: %s", http2->transport->ip, nghttp2_strerror(error));
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct http2_stream *stream = stream_of(session, id);
    (void)code;
    (void)arg;
    if (stream != NULL)
        http2_stream_close(stream);
    return 0;
}

/* ---- the session ---- */

static void set_callbacks(nghttp2_session_callbacks *callbacks)
{
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
}

nghttp2_session *http2_create_session(struct http2 *http2)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    nghttp2_session *session = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    set_callbacks(callbacks);
    if (nghttp2_option_new(&option) == 0) {
        nghttp2_option_set_no_auto_window_update(option, 1);
        nghttp2_option_set_no_closed_streams(option, 1);
        nghttp2_option_set_max_outbound_ack(option, HTTP2_MAX_ACKS);
        nghttp2_option_set_max_settings(option, HTTP2_MAX_SETTINGS);
        nghttp2_session_server_new2(&session, callbacks, http2, option);
        nghttp2_option_del(option);
    }
    nghttp2_session_callbacks_del(callbacks);
    return session;
}
