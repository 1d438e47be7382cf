#include "http/http1_connection.h"
#include "http/http1_tunnel.h"

#include <stdio.h>
#include <stdlib.h>

#define WRITE_LOOKS 4 /* a write timeout: between them nobody says what the client has taken */
#define CHUNK_FRAMING 24
#define STREAM_CHUNK_MAX (16 * 1024)

/* What the client takes is not told, so it is looked up: here, and a few times in each timeout. */
static int64_t answer_deadline(struct http1 *http1)
{
    const struct settings *settings = http1_settings(http1);
    int64_t now = http1->transport->loop->now;
    uint64_t taken = transport_taken(http1->transport);
    if (!http1->blocked)
        pace_begin(&http1->pace, now, settings->write_timeout, (int64_t)settings->write_min_rate,
                   settings->min_rate_after);
    else if (taken > http1->taken)
        pace_take(&http1->pace, now, taken - http1->taken);
    http1->blocked = true;
    http1->taken = taken;
    return pace_deadline(&http1->pace);
}

bool http1_await_client(struct http1 *http1)
{
    int64_t left = answer_deadline(http1) - http1->transport->loop->now;
    int64_t look = http1_settings(http1)->write_timeout / WRITE_LOOKS;
    http1_arm(http1, left < look || look == 0 ? left : look);
    return left > 0;
}

static bool is_http10(const struct http1 *http1)
{
    return http1->request->version == HTTP_1_0;
}

static void respond(struct request *request, const struct response *response)
{
    struct http1 *http1 = request->stream;
    struct transport *transport = http1->transport;
    bool wanted = http1->keep_alive, unread = http1->phase == PHASE_BODY;
    bool endless = response->stream != NULL && is_http10(http1); /* nothing but the end tells where it ends */
    http1->keep_alive = wanted && !response->close && !endless && !unread && request->refusal != 400 &&
                        !transport->loop->draining;
    if (response->tunnel != NULL)
        http1->keep_alive = true;
    http1->cut_short = wanted && !http1->keep_alive;
    http1->phase = PHASE_ANSWER;
    http1->sent = 0;
    http1->blocked = false;
    loop_update_date(transport->loop);
    char *out = transport_reserve(transport, response_head_size(response));
    transport_commit(
        transport, response_write_head(response, transport->loop, http1->keep_alive, is_http10(http1), out));
}

/* One chunk of what there is now (RFC 9112, section 7.1). */
static void send_chunk(struct http1 *http1, struct stream *stream)
{
    struct transport *transport = http1->transport;
    size_t len = stream_available(stream);
    if (len > STREAM_CHUNK_MAX)
        len = STREAM_CHUNK_MAX;
    char *out = transport_reserve(transport, CHUNK_FRAMING + len), *at = out;
    if (!is_http10(http1))
        at += sprintf(at, "%zx\r\n", len);
    at += stream_take(stream, at, len);
    if (!is_http10(http1))
        at += sprintf(at, "\r\n");
    transport_commit(transport, (size_t)(at - out));
}

/* true: all of it is on its way. As http1_continue otherwise. */
static bool continue_stream(struct http1 *http1, struct stream *stream)
{
    struct transport *transport = http1->transport;
    while (stream_available(stream) > 0 && transport_has_room(transport) && !transport->lost) {
        http1->blocked = false;
        send_chunk(http1, stream);
        stream_tell_room(stream);
    }
    if (atomic_load(&stream->overrun)) {
        transport->loop->counts.slow_streams++;
        transport_reset(transport);
        return false;
    }
    if (stream_available(stream) > 0) {
        http1_await_client(http1);
        return false;
    }
    if (!stream_is_over(stream)) {
        transport_no_deadline(transport);
        return false;
    }
    if (!is_http10(http1))
        transport_write(transport, "0\r\n\r\n", 5);
    return true;
}

/* The rest of the connection is the tunnel's. */
static void begin_tunnel(struct http1 *http1)
{
    http1_tunnel_start(http1->transport, http1->request->response.tunnel);
    request_destroy(http1->request);
    free(http1);
}

bool http1_continue(struct http1 *http1)
{
    const struct response *response = &http1->request->response;
    struct transport *transport = http1->transport;
    const uint64_t length = response_length(response);
    if (response->tunnel != NULL) {
        begin_tunnel(http1);
        return false;
    }
    if (response->head || !response_has_body(response->status)) {
        /* only the head */
    } else if (response->stream != NULL) {
        if (!continue_stream(http1, response->stream))
            return false;
    } else if (http1->sent < length) {
        int64_t sent = response_send(response, http1->sent, transport);
        if (sent < 0) { /* the length that was promised can't be kept */
            transport_abort(transport);
            return false;
        }
        http1->sent += (uint64_t)sent;
        if (http1->sent < length) {
            http1_await_client(http1);
            return false;
        }
    }
    if (!http1->keep_alive) {
        bool unread = http1->body != BODY_NONE || transport->stash.len > 0;
        transport_close(transport, unread || http1->cut_short);
        return false;
    }
    request_destroy(http1->request);
    http1->request = NULL;
    http1->phase = PHASE_HEAD;
    http1_arm(http1, http1_settings(http1)->idle_timeout);
    return true;
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Within a turn of the connection it will be looked at anyway. */
static void resume(struct request *request)
{
    struct http1 *http1 = request->stream;
    if (!http1->transport->in_turn)
        transport_turn(http1->transport, nothing, NULL);
}

const struct stream_ops http1_stream_ops = {.respond = respond, .resume = resume};
