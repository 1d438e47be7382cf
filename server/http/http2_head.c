#include "http/http2_head.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/cookie.h"
#include "parse/field.h"
#include "parse/head.h"

#include <string.h>
#include <strings.h>

#define LENGTH_DIGITS 18 /* as in HTTP/1: always fits, never near an overflow */

static cg_str copy(struct request *request, cg_str text)
{
    return arena_copy(&request->arena, text.ptr, text.len);
}

static void add_pseudo(struct http2_head *head, struct request *request, cg_str name, cg_str value)
{
    if (str_is(name, ":method"))
        request->method_text = copy(request, value);
    else if (str_is(name, ":path"))
        request->target = copy(request, value);
    else if (str_is(name, ":scheme"))
        request->scheme = copy(request, value);
    else if (str_is(name, ":authority"))
        head->authority = copy(request, value);
    else if (str_is(name, ":protocol"))
        head->protocol = copy(request, value);
    else
        head->malformed = true;
}

static void note_length(struct http2_head *head, cg_str value)
{
    head->malformed |= head->has_length || value.len == 0 || value.len > LENGTH_DIGITS;
    head->has_length = true;
    for (size_t i = 0; i < value.len && !head->malformed; i++) {
        head->malformed = !byte_is_digit(value.ptr[i]);
        head->length = 10 * head->length + (uint64_t)(value.ptr[i] - '0');
    }
}

static void note_host(struct http2_head *head, struct request *request, cg_str value)
{
    head->malformed |= request->host.ptr != NULL;
    request->host = value;
}

static void note_field(struct http2_head *head, struct request *request, const cg_field *field)
{
    if (str_is(field->name, "host"))
        note_host(head, request, field->value);
    else if (str_is(field->name, "content-length"))
        note_length(head, field->value);
    else if (str_is(field->name, "expect") && token_equal(field->value, "100-continue"))
        request->expects_continue = true;
    else if (str_is(field->name, "expect"))
        head->other_expectation = true;
}

static void append(struct http2_head *head, struct request *request, cg_field field)
{
    request->fields =
        arena_extend(&request->arena, request->fields, request->field_count, &head->capacity, sizeof field);
    request->fields[request->field_count++] = field;
}

void http2_head_add(struct http2_head *head, struct request *request, cg_str name, cg_str value, size_t limit)
{
    head->size += name.len + value.len + HTTP2_FIELD_OVERHEAD;
    head->too_large |= head->size > limit;
    if (head->too_large)
        return;
    if (name.len > 0 && name.ptr[0] == ':') {
        add_pseudo(head, request, name, value);
    } else if (request->field_count == HEAD_MAX_FIELDS) {
        head->too_large = true;
    } else {
        cg_field field = {copy(request, name), copy(request, value)};
        append(head, request, field);
        note_field(head, request, &field);
    }
}

/* Whoever handles requests may look at all of these, also of a refused one. */
static void fill_gaps(struct request *request)
{
    cg_str *const all[] = {&request->method_text, &request->target, &request->scheme, &request->host};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->ptr == NULL)
            *all[i] = STR("");
}

static bool target_valid(const struct request *request)
{
    cg_str target = request->target;
    for (size_t i = 0; i < target.len; i++)
        if (!(byte_class(target.ptr[i]) & BYTE_TARGET))
            return false;
    return (target.len > 0 && target.ptr[0] == '/') ||
           (str_is(target, "*") && str_is(request->method_text, "OPTIONS"));
}

/* :authority and Host must not contradict each other; one of them is enough. Functions see a Host field in
   any case, as they do with HTTP/1. False: neither, or both and different. */
static bool settle_host(struct http2_head *head, struct request *request)
{
    cg_str authority = head->authority, host = request->host;
    if (authority.ptr == NULL)
        return host.ptr != NULL && host_valid(host);
    if (host.ptr != NULL &&
        (host.len != authority.len || strncasecmp(host.ptr, authority.ptr, host.len) != 0))
        return false;
    if (host.ptr == NULL) {
        append(head, request, (cg_field){{0}, {0}});
        memmove(request->fields + 1, request->fields, (request->field_count - 1) * sizeof *request->fields);
        request->fields[0] = (cg_field){STR("host"), authority};
    }
    request->host = authority;
    return host_valid(authority);
}

/* What would be a GET over HTTP/1.1 is one for whoever handles it (RFC 8441, section 5). */
static void take_connect(struct http2_head *head, struct request *request)
{
    const bool connects = str_is(request->method_text, "CONNECT");
    head->malformed |= head->protocol.ptr != NULL && !connects;
    if (!connects || !token_equal(head->protocol, "websocket"))
        return;
    request->connect = true;
    request->method_text = STR("GET");
}

int http2_head_finish(struct http2_head *head, struct request *request)
{
    bool has_host = settle_host(head, request);
    fill_gaps(request);
    str_cut(request->target, '?', &request->raw_path, &request->raw_query);
    take_connect(head, request);
    request->method = method_of(request->method_text);
    cookie_join(request->fields, &request->field_count, &request->arena);
    if (head->too_large)
        return 431;
    if (str_is(request->method_text, "CONNECT"))
        return 501;
    if (head->malformed || !has_host || !target_valid(request) ||
        (!str_is(request->scheme, "https") && !str_is(request->scheme, "http")))
        return 400;
    return head->other_expectation ? 417 : 0;
}
