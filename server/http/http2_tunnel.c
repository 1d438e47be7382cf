#include "http/http2_session.h"

/* The client's window is opened as its bytes are taken; the others are kept, no more than the window was. */
static void deliver(struct http2_stream *stream, const char *data, size_t len)
{
    struct tunnel *tunnel = stream->request->response.tunnel;
    size_t used = tunnel->user->input(tunnel, data, len);
    nghttp2_session_consume_stream(stream->http2->session, stream->id, used);
    if (data != stream->stash.data)
        buffer_append(&stream->stash, data + used, len - used);
    else if (used == len)
        buffer_finish(&stream->stash);
    else
        buffer_consume(&stream->stash, used);
    if (stream_available(&tunnel->out) > 0 || stream_is_over(&tunnel->out))
        http2_wake(stream);
}

static bool is_open(const struct http2_stream *stream)
{
    const struct tunnel *tunnel = stream->request->response.tunnel;
    return tunnel != NULL && tunnel->carrier != NULL;
}

void http2_tunnel_deliver(struct http2_stream *stream)
{
    if (!is_open(stream))
        return;
    if (stream->stash.len > 0)
        deliver(stream, stream->stash.data, stream->stash.len);
    if (stream->ended && stream->stash.len == 0)
        http2_tunnel_end(stream);
}

bool http2_tunnel_takes(struct http2_stream *stream, const char *data, size_t len)
{
    const struct request *request = stream->request;
    if (!request->connect || (request->responded && request->response.tunnel == NULL))
        return false;
    if (!is_open(stream) || stream->stash.len > 0) {
        buffer_append(&stream->stash, data, len);
        http2_tunnel_deliver(stream);
    } else {
        deliver(stream, data, len);
    }
    return true;
}

void http2_tunnel_end(struct http2_stream *stream)
{
    struct tunnel *tunnel = stream->request->response.tunnel;
    stream->ended = true;
    if (is_open(stream) && stream->stash.len == 0)
        tunnel->user->end_of_input(tunnel);
}

void http2_tunnel_gone(struct http2_stream *stream)
{
    struct tunnel *tunnel = stream->request->response.tunnel;
    buffer_finish(&stream->stash);
    if (!is_open(stream))
        return;
    tunnel->carrier = NULL;
    tunnel->user->gone(tunnel);
}

/* ---- what the tunnel's user asks ---- */

static void resume(struct tunnel *tunnel)
{
    struct http2_stream *stream = tunnel->below;
    struct http2 *http2 = stream->http2;
    const bool busy = http2->busy;
    http2->busy = true;
    http2_tunnel_deliver(stream);
    http2->busy = busy;
    stream->request->ops->resume(stream->request);
}

/* The stream closes, and the tunnel is gone, once that is sent. */
static void reset(struct tunnel *tunnel)
{
    struct http2_stream *stream = tunnel->below;
    nghttp2_submit_rst_stream(stream->http2->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
    http2_settle(stream->http2);
}

static uint64_t taken(const struct tunnel *tunnel)
{
    const struct http2_stream *stream = tunnel->below;
    return stream->sent;
}

static const struct tunnel_carrier carrier = {.resume = resume, .abort = reset, .taken = taken};

void http2_tunnel_begin(struct http2_stream *stream)
{
    struct tunnel *tunnel = stream->request->response.tunnel;
    tunnel->carrier = &carrier;
    tunnel->below = stream;
}
