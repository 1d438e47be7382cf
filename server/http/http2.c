#include "http/http2.h"

#include "base/alloc.h"
#include "http/app.h"
#include "http/http2_session.h"

#include <stdlib.h>

static const struct protocol http2_protocol;

static const struct settings *settings_of(const struct http2 *http2)
{
    return http2->transport->loop->app->settings;
}

static int64_t now_of(const struct http2 *http2)
{
    return http2->transport->loop->now;
}

int http2_fail(struct http2 *http2, uint32_t code)
{
    if (code == NGHTTP2_ENHANCE_YOUR_CALM && !http2->failed)
        http2->transport->loop->counts.http2_floods++;
    http2->failed = true;
    http2->failure = code;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

int http2_spend(struct http2 *http2, int cost)
{
    return http2_credit_spend(&http2->credit, now_of(http2), cost)
               ? 0
               : http2_fail(http2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static void submit_settings(struct http2 *http2)
{
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, HTTP2_MAX_STREAMS},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2_STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)settings_of(http2)->header_limit},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
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

/* Each stream has a deadline of its own; these are the connection's. A function may take its time. */
static void arm(struct http2 *http2)
{
    const struct settings *settings = settings_of(http2);
    int64_t deadline = now_of(http2) + settings->idle_timeout;
    if (http2->stream_count == 0)
        deadline = http2->progress + settings->idle_timeout;
    if (http2->receiving > 0 && pace_deadline(&http2->body_pace) < deadline)
        deadline = pace_deadline(&http2->body_pace);
    if (http2->sending > 0 && http2->next_look < deadline)
        deadline = http2->next_look;
    if (http2->head_since != 0 && http2->head_since + settings->header_timeout < deadline)
        deadline = http2->head_since + settings->header_timeout;
    transport_deadline(http2->transport, deadline);
}

static void submit_goaway(struct http2 *http2)
{
    if (!http2->draining)
        nghttp2_submit_shutdown_notice(http2->session);
    http2->draining = true;
}

/* Ends each call from below: sends what there is to send, and decides how it goes on. False: http2 is
   freed. */
static bool settle(struct http2 *http2)
{
    nghttp2_session *session = http2->session;
    http2->busy = false;
    if (http2->transport->lost)
        return true;
    http2->busy = true; /* what is sent may let functions add to their streams */
    if (!http2->failed && nghttp2_session_send(session) != 0 && !http2->failed)
        http2_fail(http2, NGHTTP2_INTERNAL_ERROR);
    http2->busy = false;
    bool finished = !nghttp2_session_want_read(session) && !nghttp2_session_want_write(session);
    bool drained = http2->draining && http2->stream_count == 0;
    bool answered = http2->transport->ended && http2->stream_count == http2->receiving;
    if (http2->failed || finished || drained || answered) {
        end_connection(http2, http2->failed ? http2->failure : NGHTTP2_NO_ERROR);
        return false;
    }
    if (http2->sending > 0)
        http2_streams_watch(http2);
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
    http2_take(http2, (const uint8_t *)data, len);
    if (!http2->failed)
        http2_streams_run(http2);
    settle(http2);
    return len;
}

static void writable(struct transport *transport)
{
    settle(transport->state);
}

static void end_of_input(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    http2->busy = true;
    list_for_each (link, &http2->streams)
        http2_stream_half_close(list_item(link, struct http2_stream, link));
    settle(http2);
}

static void drain(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    submit_goaway(http2);
    http2->busy = true;
    list_for_each (link, &http2->streams)
        http2_stream_drain(list_item(link, struct http2_stream, link));
    http2->busy = false;
    http2_settle(http2);
}

/* Whether the client takes what the connection has for it. Windows of single streams are looked at there. */
static bool client_keeps_up(struct http2 *http2)
{
    const struct settings *settings = settings_of(http2);
    uint64_t taken = transport_taken(http2->transport);
    int64_t now = now_of(http2);
    if (http2->looked)
        pace_take(&http2->send_pace, now, taken - http2->taken);
    if (!http2_streams_stuck(http2))
        pace_begin(&http2->send_pace, now, settings->write_timeout, (int64_t)settings->write_min_rate,
                   settings->min_rate_after);
    http2->looked = true;
    http2->taken = taken;
    http2->next_look = now + settings->write_timeout / HTTP2_WRITE_LOOKS;
    return pace_deadline(&http2->send_pace) > now;
}

static void timeout(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    struct loop_counts *counts = &transport->loop->counts;
    int64_t now = now_of(http2);
    if (http2->head_since != 0 && http2->head_since + settings_of(http2)->header_timeout <= now) {
        counts->head_timeouts++;
        end_connection(http2, NGHTTP2_NO_ERROR);
        return;
    }
    if (http2->stream_count == 0 && http2->progress + settings_of(http2)->idle_timeout <= now) {
        counts->idle_closes++;
        end_connection(http2, NGHTTP2_NO_ERROR);
        return;
    }
    if (http2->sending > 0 && http2->next_look <= now && !client_keeps_up(http2)) {
        counts->write_timeouts++;
        transport_abort(transport);
        return;
    }
    http2->busy = true;
    if (http2->receiving > 0 && pace_deadline(&http2->body_pace) <= now)
        http2_streams_cut(http2);
    settle(http2);
}

static void gone(struct transport *transport)
{
    struct http2 *http2 = transport->state;
    list_for_each (link, &http2->streams)
        http2_stream_close(list_item(link, struct http2_stream, link));
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
    list_init(&http2->ready);
    http2_frames_init(&http2->frames);
    http2_credit_init(&http2->credit, now_of(http2));
    http2->progress = now_of(http2);
    http2->session = http2_create_session(http2);
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
