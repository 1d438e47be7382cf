#include "http/http1.h"

#include "base/alloc.h"
#include "base/str.h"
#include "http/access_log.h"
#include "http/app.h"
#include "http/dispatch.h"
#include "http/feed.h"
#include "http/http1_connection.h"
#include "http/http2.h"
#include "parse/cookie.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_BODY_GRACES 3 /* for a body so short that the rate would bring it within one */
#define DRAIN_GRACE_MS 500  /* for a request that is on its way when an idle connection has to end */

static const struct protocol http1_protocol;

static void start(struct transport *transport, bool redirect)
{
    struct http1 *http1 = xzalloc(sizeof *http1);
    http1->transport = transport;
    http1->redirect = redirect;
    http1->fresh = http1_settings(http1)->h2c && !redirect && transport->tls == NULL;
    transport->state = http1;
    transport->protocol = &http1_protocol;
    http1_arm(http1, http1_settings(http1)->idle_timeout);
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
    struct request *request = http1->request;
    loop_count_refusal(transport->loop, status);
    if (request != NULL && request->method_text.ptr != NULL) {
        request->responded = true;
        request->response.status = status;
    } else {
        access_log_note_refusal(transport, status);
    }
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
    const struct settings *settings = http1_settings(http1);
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
    struct request *request = request_create(transport->loop, transport, &http1_stream_ops, http1);
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
    request->version = head.minor > 0 ? HTTP_1_1 : HTTP_1_0;
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
    int found = head_scan(data, len, http1_settings(http1)->header_limit, &http1->scan);
    if (found == 0) {
        if (!http1->head_begun)
            http1_arm(http1, http1_settings(http1)->header_timeout);
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
        http1_arm(http1, http1_settings(http1)->header_timeout);
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
        if (http1->phase == PHASE_ANSWER && !http1_continue(http1))
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
        http1_continue(http1);
    else if (http1->phase == PHASE_HEAD && (transport_idle(transport) || transport->stash.len == 0))
        transport_close(transport, false);
}

static void writable(struct transport *transport)
{
    struct http1 *http1 = transport->state;
    if (http1->phase == PHASE_WAIT || (http1->phase == PHASE_ANSWER && !http1_continue(http1)))
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
        if (http1_await_client(http1))
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
        http1_arm(http1, DRAIN_GRACE_MS);
    else if (http1->phase == PHASE_ANSWER && feed_end(http1->request->call))
        http1_continue(http1);
}

static const struct protocol http1_protocol = {
    .input = input,
    .end_of_input = end_of_input,
    .writable = writable,
    .timeout = timeout,
    .drain = drain,
    .gone = gone,
};
