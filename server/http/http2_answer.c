#include "base/str.h"
#include "http/http2_session.h"

#include <inttypes.h>
#include <string.h>

#define OWN_FIELDS 4 /* :status, server, date, content-length */

/* A frame goes out whole or not at all: nghttp2 drops one whose stream is reset while it waits. */
ssize_t http2_send(nghttp2_session *session, const uint8_t *data, size_t len, int flags, void *arg)
{
    const struct http2 *http2 = arg;
    (void)session;
    (void)flags;
    if (!transport_has_room(http2->transport))
        return NGHTTP2_ERR_WOULDBLOCK;
    memcpy(transport_reserve(http2->transport, len), data, len);
    transport_commit(http2->transport, len);
    return (ssize_t)len;
}

int http2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t len,
                    nghttp2_data_source *source, void *arg)
{
    const struct http2 *http2 = arg;
    struct http2_stream *stream = source->ptr;
    (void)session;
    (void)frame;
    if (!transport_has_room(http2->transport))
        return NGHTTP2_ERR_WOULDBLOCK;
    struct stream *pieces = stream->request->response.stream;
    char *out = transport_reserve(http2->transport, HTTP2_FRAME_HEAD + len);
    memcpy(out, head, HTTP2_FRAME_HEAD);
    if (pieces != NULL)
        stream_take(pieces, out + HTTP2_FRAME_HEAD, len);
    else if (response_read(&stream->request->response, stream->sent, out + HTTP2_FRAME_HEAD, len) != 0)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets the stream: it has no good end any more */
    transport_commit(http2->transport, HTTP2_FRAME_HEAD + len);
    http2_stream_sent(stream, len);
    if (pieces != NULL)
        stream_tell_room(pieces);
    return 0;
}

/* How much of a streamed answer comes next. */
static ssize_t read_stream(struct http2_stream *stream, size_t size, uint32_t *flags)
{
    struct stream *pieces = stream->request->response.stream;
    size_t left = stream_available(pieces);
    if (atomic_load(&pieces->overrun)) {
        stream->http2->transport->loop->counts.slow_streams++;
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (left == 0 && !pieces->ended) {
        http2_stream_wait(stream);
        return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (left <= size && pieces->ended)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)(left < size ? left : size);
}

/* Only says how much comes next; http2_send_data fetches it. */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *out, size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *arg)
{
    struct http2_stream *stream = source->ptr;
    uint64_t left = response_length(&stream->request->response) - stream->sent;
    (void)session;
    (void)id;
    (void)out;
    (void)arg;
    if (stream->request->response.stream != NULL)
        return read_stream(stream, size, flags);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (left <= size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)(left < size ? left : size);
}

static nghttp2_nv field_of(cg_str name, cg_str value)
{
    return (nghttp2_nv){.name = (uint8_t *)name.ptr,
                        .namelen = name.len,
                        .value = (uint8_t *)value.ptr,
                        .valuelen = value.len};
}

/* nghttp2 copies what it is given, so nothing here has to live on. */
static size_t list_fields(struct request *request, const struct response *response, nghttp2_nv *out)
{
    struct arena *arena = &request->arena;
    size_t count = 0;
    loop_update_date(request->loop);
    out[count++] = field_of(STR(":status"), arena_printf(arena, "%03d", response->status));
    out[count++] = field_of(STR("server"), STR("cloudgate"));
    out[count++] = field_of(STR("date"), cg_string(request->loop->date));
    for (size_t i = 0; i < response->field_count; i++)
        out[count++] = field_of(response->fields[i].name, response->fields[i].value);
    if (response_has_body(response->status) && response->stream == NULL)
        out[count++] =
            field_of(STR("content-length"), arena_printf(arena, "%" PRIu64, response_length(response)));
    return count;
}

static void respond(struct request *request, const struct response *response)
{
    struct http2_stream *stream = request->stream;
    struct http2 *http2 = stream->http2;
    nghttp2_nv *fields = arena_alloc(&request->arena, (response->field_count + OWN_FIELDS) * sizeof *fields);
    nghttp2_data_provider body = {.source.ptr = stream, .read_callback = read_body};
    bool has_data = !response->head && response_has_body(response->status) &&
                    (response->stream != NULL || response_length(response) > 0);
    size_t count = list_fields(request, response, fields);
    http2_stream_answer(stream);
    nghttp2_submit_response(http2->session, stream->id, fields, count, has_data ? &body : NULL);
    if (response->tunnel != NULL)
        http2_tunnel_begin(stream);
    if (response->close && !http2->draining) {
        nghttp2_submit_shutdown_notice(http2->session);
        http2->draining = true;
    }
    http2_settle(http2);
}

void http2_submit_continue(struct http2_stream *stream)
{
    nghttp2_nv status = field_of(STR(":status"), STR("100"));
    nghttp2_submit_headers(stream->http2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, &status, 1, NULL);
}

void http2_wake(struct http2_stream *stream)
{
    if (!stream->waiting)
        return;
    stream->waiting = false;
    http2_stream_answer(stream);
    nghttp2_session_resume_data(stream->http2->session, stream->id);
}

static void resume(struct request *request)
{
    struct http2_stream *stream = request->stream;
    http2_wake(stream);
    http2_settle(stream->http2);
}

const struct stream_ops http2_stream_ops = {.respond = respond, .resume = resume};
