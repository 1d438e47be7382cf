#include "http/compress.h"

#include "app/coding.h"
#include "app/mime.h"
#include "base/str.h"
#include "http/call.h"
#include "http/negotiate.h"
#include "parse/field.h"

/* Whether the field leaves the bytes of the body to us. */
static bool allows(const cg_field *field)
{
    if (str_is(field->name, "content-encoding") || str_is(field->name, "content-range"))
        return false;
    if (str_is(field->name, "etag"))
        return field->value.len == 0 || field->value.ptr[0] != '"';
    return !str_is(field->name, "cache-control") || !list_has(field->value, "no-transform");
}

static bool may_be_compressed(const struct event *event, int status)
{
    const struct answer *answer = &event->answer;
    const cg_field *type = answer_field(answer, "content-type");
    if (event->action->plain || answer->body_len < COMPRESS_MIN_BYTES || status == 206 || type == NULL ||
        !mime_compressible(type->value.ptr) || answer->field_count + 2 > ANSWER_MAX_FIELDS)
        return false;
    for (size_t i = 0; i < answer->field_count; i++)
        if (!allows(&answer->fields[i]))
            return false;
    return true;
}

static void add_vary(struct answer *answer)
{
    for (size_t i = 0; i < answer->field_count; i++) {
        const cg_field *field = &answer->fields[i];
        if (str_is(field->name, "vary") &&
            (list_has(field->value, "*") || list_has(field->value, "accept-encoding")))
            return;
    }
    answer_add_field(answer, "vary", "accept-encoding");
}

static enum coding choose(const struct request *request)
{
    struct accept_encoding accept = negotiate_encoding(request);
    if (accept_prefers(&accept, accept.brotli) && accept.brotli >= accept.gzip)
        return CODING_BROTLI;
    return accept_prefers(&accept, accept.gzip) ? CODING_GZIP : CODING_IDENTITY;
}

cg_str compress_answer(struct request *request, int status)
{
    struct answer *answer = &request->call->event.answer;
    cg_str body = cg_bytes(answer->body, answer->body_len);
    if (!may_be_compressed(&request->call->event, status))
        return body;
    add_vary(answer);
    enum coding coding = choose(request);
    if (coding == CODING_IDENTITY || body.len > COMPRESS_MAX_BYTES)
        return body;
    size_t room = coding_worth(body.len);
    char *out = arena_try(&request->arena, room + 1);
    size_t made = out ? coding_pack(coding, EFFORT_FAST, body.ptr, body.len, out, room) : 0;
    if (made == 0)
        return body;
    out[made] = '\0';
    answer_set_field(answer, "content-encoding", coding_name(coding));
    return cg_bytes(out, made);
}
