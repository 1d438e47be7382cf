#include "http/http1.h"

#include "base/alloc.h"
#include "base/pace.h"
#include "base/str.h"
#include "http/app.h"
#include "http/dispatch.h"
#include "http/feed.h"
#include "http/http2.h"
#include "parse/chunked.h"
#include "parse/cookie.h"
#include "parse/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BODY_GRACES 3 /* for a body so short that the rate would bring it within one */
#define WRITE_LOOKS 4       /* a write timeout: between them nobody says what the client has taken */
#define CHUNK_FRAMING 24
#define STREAM_CHUNK_MAX (16 * 1024)
#define DRAIN_GRACE_MS 500 /* for a request that is on its way when an idle connection has to end */

enum phase {
    PHASE_HEAD,   /* between requests, or within a head */
    PHASE_BODY,   /* a body is coming in */
    PHASE_WAIT,   /* a function works on the answer */
    PHASE_ANSWER, /* an answer is going out */
};

struct http1 {
    struct transport *transport;
    struct request *request; /* but in PHASE_HEAD */
    enum phase phase;
    enum body_kind body;
    bool redirect, head_begun, keep_alive, http10;
    bool fresh;         /* its first bytes may still turn out to be HTTP/2 */
    bool cut_short;     /* the connection ends with this answer, though the client has not asked for that */
    bool blocked;       /* the client has not taken all of an answer */
    struct pace pace;   /* of the body, or of the answer once blocked */
    uint64_t taken;     /* by the client, as of the pace */
    uint64_t body_left; /* of BODY_LENGTH */
    struct head_scan scan;
    struct chunked chunked;
    uint64_t sent; /* bytes of the answer's body that the transport has taken */
};

static const struct protocol http1_protocol;

static const struct settings *settings_of(const struct http1 *http1)
{
    return http1->transport->loop->app->settings;
}

static void arm(struct http1 *http1, int64_t ms)
{
    transport_deadline(http1->transport, http1->transport->loop->now + ms);
}

static void start(struct transport *transport, bool redirect)
{
    struct http1 *http1 = xzalloc(sizeof *http1);
    http1->transport = transport;
    http1->redirect = redirect;
    http1->fresh = settings_of(http1)->h2c && !redirect && transport->tls == NULL;
    transport->state = http1;
    transport->protocol = &http1_protocol;
    arm(http1, settings_of(http1)->idle_timeout);
}

void http1_start(struct transport *transport)
{
    start(transport, false);
}

void http1_start_redirect(struct transport *transport)
{
    start(transport, true);
}

static void gone(struct transport *transport)
{
    struct http1 *http1 = transport->state;
    request_destroy(http1->request);
    free(http1);
}

/* Whatever cannot be understood ends the connection: nobody can say where the next request begins. http1 is
   freed. */
static void refuse(struct http1 *http1, int status)
{
    static const cg_field fields[] = {{STR("content-type"), STR("text/plain; charset=utf-8")}};
    struct transport *transport = http1->transport;
    loop_count_refusal(transport->loop, status);
    struct response response = {.status = status,
                                .fields = fields,
                                .field_count = 1,
                                .body = request_error_text(status),
                                .close = true};
    loop_update_date(transport->loop);
    char *out = transport_reserve(transport, response_head_size(&response) + response.body.len);
    size_t len = response_write_head(&response, transport->loop, false, false, out);
    memcpy(out + len, response.body.ptr, response.body.len);
    transport_commit(transport, len + response.body.len);
    transport_close(transport, true);
}

/* ---- the answer ---- */

/* What the client takes is not told, so it is looked up: here, and a few times in each timeout. */
static int64_t answer_deadline(struct http1 *http1)
{
    const struct settings *settings = settings_of(http1);
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

/* false: it is too slow. */
static bool await_client(struct http1 *http1)
{
    int64_t left = answer_deadline(http1) - http1->transport->loop->now;
    int64_t look = settings_of(http1)->write_timeout / WRITE_LOOKS;
    arm(http1, left < look || look == 0 ? left : look);
    return left > 0;
}

static void respond(struct request *request, const struct response *response)
{
    struct http1 *http1 = request->stream;
    struct transport *transport = http1->transport;
    bool wanted = http1->keep_alive, unread = http1->phase == PHASE_BODY;
    bool endless = response->stream != NULL && http1->http10; /* nothing but the end tells where it ends */
    http1->keep_alive = wanted && !response->close && !endless && !unread && request->refusal != 400 &&
                        !transport->loop->draining;
    http1->cut_short = wanted && !http1->keep_alive;
    http1->phase = PHASE_ANSWER;
    http1->sent = 0;
    http1->blocked = false;
    loop_update_date(transport->loop);
    char *out = transport_reserve(transport, response_head_size(response));
    transport_commit(transport,
                     response_write_head(response, transport->loop, http1->keep_alive, http1->http10, out));
}

/* One chunk of what there is now (RFC 9112, section 7.1). */
static void send_chunk(struct http1 *http1, struct stream *stream)
{
    struct transport *transport = http1->transport;
    size_t len = stream_available(stream);
    if (len > STREAM_CHUNK_MAX)
        len = STREAM_CHUNK_MAX;
    char *out = transport_reserve(transport, CHUNK_FRAMING + len), *at = out;
    if (!http1->http10)
        at += sprintf(at, "%zx\r\n", len);
    at += stream_take(stream, at, len);
    if (!http1->http10)
        at += sprintf(at, "\r\n");
    transport_commit(transport, (size_t)(at - out));
}

/* true: all of it is on its way. As continue_answer otherwise. */
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
        await_client(http1);
        return false;
    }
    if (!stream_is_over(stream)) {
        transport_no_deadline(transport);
        return false;
    }
    if (!http1->http10)
        transport_write(transport, "0\r\n\r\n", 5);
    return true;
}

/* true: the answer has been taken whole and the next request may be read. Else it goes on in `writable`, or
   the connection is closed and http1 freed. */
static bool continue_answer(struct http1 *http1)
{
    const struct response *response = &http1->request->response;
    struct transport *transport = http1->transport;
    const uint64_t length = response_length(response);
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
            await_client(http1);
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
    arm(http1, settings_of(http1)->idle_timeout);
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

static const struct stream_ops http1_ops = {.respond = respond, .resume = resume};

/* ---- the request ---- */

static void fill_in(struct request *request, const struct head *head, bool tls)
{
    request->method_text = head->method;
    request->target = head->target;
    request->host = head->host;
    request->scheme = tls ? STR("https") : STR("http");
    request->raw_path = head->path;
    request->raw_query = head->query;
    request->fields = head->fields;
    request->field_count = head->count;
    cookie_join(request->fields, &request->field_count, &request->arena);
}

/* A rate says little about a few bytes, so a body that is known to be small has longer. */
static void begin_body(struct http1 *http1, const struct head *head)
{
    const struct settings *settings = settings_of(http1);
    int64_t grace = settings->min_rate_after, rate = (int64_t)settings->body_min_rate;
    if (head->body == BODY_LENGTH && head->length <= (uint64_t)(grace * rate / 1000))
        grace *= SMALL_BODY_GRACES;
    pace_begin(&http1->pace, http1->transport->loop->now, settings->body_timeout, rate, grace);
    transport_deadline(http1->transport, pace_deadline(&http1->pace));
}

/* A function may take its time; the client may not be hurried meanwhile. */
static void end_request(struct http1 *http1)
{
    http1->phase = PHASE_WAIT;
    dispatch_end(http1->request);
    if (http1->phase == PHASE_WAIT)
        transport_no_deadline(http1->transport);
}

/* The head's bytes are copied once, because they must outlive the loop's input buffer. 0 or a negated
   status. */
static int begin_request(struct http1 *http1, const char *data)
{
    struct transport *transport = http1->transport;
    struct head head;
    struct request *request = request_create(transport->loop, transport, &http1_ops, http1);
    http1->request = request;
    char *copy = arena_alloc(&request->arena, http1->scan.len);
    cg_field *fields = arena_alloc(&request->arena, http1->scan.lines * sizeof *fields);
    memcpy(copy, data, http1->scan.len);
    int error = head_parse(copy, &http1->scan, fields, &head);
    if (error != 0)
        return error;
    fill_in(request, &head, transport->tls != NULL);
    request->redirect = http1->redirect;
    request->expects_continue = head.expect_continue;
    http1->http10 = head.minor == 0;
    http1->keep_alive = head.keep_alive;
    http1->body = head.body;
    http1->body_left = head.length;
    http1->chunked = (struct chunked){0};
    http1->phase = head.body == BODY_NONE ? PHASE_WAIT : PHASE_BODY;
    dispatch_begin(request, head.body == BODY_CHUNKED ? LENGTH_UNKNOWN : head.length);
    if (request->responded)
        return 0;
    http1->chunked.limit = request->body_limit; /* a chunk that cannot fit is not waited for */
    if (head.body == BODY_NONE) {
        end_request(http1);
    } else {
        begin_body(http1, &head);
        if (head.expect_continue)
            transport_write(transport, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    }
    return 0;
}

/* Returns the bytes consumed: a whole head, or 0 when more is needed. */
static size_t take_head(struct http1 *http1, const char *data, size_t len)
{
    int found = head_scan(data, len, settings_of(http1)->header_limit, &http1->scan);
    if (found == 0) {
        if (!http1->head_begun)
            arm(http1, settings_of(http1)->header_timeout);
        http1->head_begun = true;
        return 0;
    }
    int error = found < 0 ? found : begin_request(http1, data);
    size_t used = http1->scan.len;
    http1->scan = (struct head_scan){0};
    http1->head_begun = false;
    if (error != 0) {
        refuse(http1, -error);
        return len;
    }
    return used;
}

static void end_body(struct http1 *http1)
{
    http1->body = BODY_NONE;
    end_request(http1);
}

static size_t take_chunks(struct http1 *http1, const char *data, size_t len)
{
    size_t used;
    cg_str payload;
    int state = chunked_feed(&http1->chunked, data, len, &used, &payload);
    if (state < 0) {
        request_fail(http1->request, -state);
        return len;
    }
    if (payload.len > 0)
        dispatch_body(http1->request, payload.ptr, payload.len);
    if (state == 1 && !http1->request->responded)
        end_body(http1);
    return used;
}

static size_t take_body(struct http1 *http1, const char *data, size_t len)
{
    pace_take(&http1->pace, http1->transport->loop->now, len);
    transport_deadline(http1->transport, pace_deadline(&http1->pace));
    if (http1->body == BODY_CHUNKED)
        return take_chunks(http1, data, len);
    size_t used = len < http1->body_left ? len : (size_t)http1->body_left;
    http1->body_left -= used;
    dispatch_body(http1->request, data, used);
    if (http1->body_left == 0 && !http1->request->responded)
        end_body(http1);
    return used;
}

/* True: the bytes are those of HTTP/2 with prior knowledge (RFC 9113, section 3.3), or their beginning, and
 *ret_used of them are taken. http1 may be freed. */
static bool take_preface(struct http1 *http1, const char *data, size_t len, size_t *ret_used)
{
    static const char preface[] = HTTP2_PREFACE;
    struct transport *transport = http1->transport;
    size_t known = len < sizeof preface - 1 ? len : sizeof preface - 1;
    http1->fresh = memcmp(data, preface, known) == 0;
    if (!http1->fresh)
        return false;
    *ret_used = 0;
    if (known == sizeof preface - 1) {
        free(http1);
        http2_start(transport);
        *ret_used = transport->protocol->input(transport, data, len);
    } else if (!http1->head_begun) {
        http1->head_begun = true;
        arm(http1, settings_of(http1)->header_timeout);
    }
    return true;
}

/* An answer is begun only when the socket has taken all before it, so that a client which pipelines without
   reading is not answered into memory. */
static size_t input(struct transport *transport, const char *data, size_t len)
{
    struct http1 *http1 = transport->state;
    size_t used = 0;
    if (http1->fresh && take_preface(http1, data, len, &used))
        return used;
    while (used < len) {
        size_t taken;
        if (http1->phase == PHASE_ANSWER || http1->phase == PHASE_WAIT)
            return used;
        if (http1->phase == PHASE_HEAD && !transport_idle(transport)) {
            transport->want_writable = true;
            return used;
        }
        if (http1->phase == PHASE_HEAD)
            taken = take_head(http1, data + used, len - used);
        else
            taken = take_body(http1, data + used, len - used);
        used += taken;
        if (transport->protocol == NULL)
            return len;
        if (http1->phase == PHASE_ANSWER && !continue_answer(http1))
            return transport->protocol == NULL ? len : used;
        if (taken == 0)
            break;
    }
    return used;
}

/* FIN is a half-close: what was received whole is answered (RFC 9112, section 9.6). */
static void end_of_input(struct transport *transport)
{
    struct http1 *http1 = transport->state;
    if (http1->phase == PHASE_BODY)
        transport_abort(transport);
    else if (http1->phase == PHASE_ANSWER && feed_prod(http1->request->call))
        continue_answer(http1);
    else if (http1->phase == PHASE_HEAD && (transport_idle(transport) || transport->stash.len == 0))
        transport_close(transport, false);
}

static void writable(struct transport *transport)
{
    struct http1 *http1 = transport->state;
    if (http1->phase == PHASE_WAIT || (http1->phase == PHASE_ANSWER && !continue_answer(http1)))
        return;
    transport_resume(transport);
    if (transport->protocol != NULL && transport->ended && http1->phase == PHASE_HEAD &&
        !transport->want_writable)
        transport_close(transport, false);
}

static void timeout(struct transport *transport)
{
    struct http1 *http1 = transport->state;
    struct loop_counts *counts = &transport->loop->counts;
    if (http1->phase == PHASE_ANSWER) {
        if (await_client(http1))
            return;
        counts->write_timeouts++;
        transport_reset(transport);
    } else if (http1->phase == PHASE_BODY) {
        counts->body_timeouts++;
        refuse(http1, 408);
    } else if (http1->head_begun) {
        counts->head_timeouts++;
        refuse(http1, 408);
    } else if (!transport_idle(transport)) { /* it asks, but does not take its answers */
        counts->write_timeouts++;
        transport_reset(transport);
    } else {
        counts->idle_closes++;
        transport_close(transport, false);
    }
}

static void drain(struct transport *transport)
{
    struct http1 *http1 = transport->state;
    if (http1->phase == PHASE_HEAD && !http1->head_begun)
        arm(http1, DRAIN_GRACE_MS);
    else if (http1->phase == PHASE_ANSWER && feed_end(http1->request->call))
        continue_answer(http1);
}

static const struct protocol http1_protocol = {
    .input = input,
    .end_of_input = end_of_input,
    .writable = writable,
    .timeout = timeout,
    .drain = drain,
    .gone = gone,
};
