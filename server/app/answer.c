#include "app/answer.h"

#include "base/str.h"
#include "parse/field.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BODY_CAPACITY 512
/* Larger bodies live on the heap, where growing them leaves nothing behind. */
#define ARENA_BODY_MAX (64 * 1024)

/* Set by the server, from what it really sends (RFC 9110, section 7.6.1; RFC 9112, section 6). */
static const char *const framing_fields[] = {"connection",        "content-length", "date", "keep-alive",
                                             "proxy-connection",  "server",         "te",   "trailer",
                                             "transfer-encoding", "upgrade"};

void answer_init(struct answer *answer, struct arena *arena)
{
    *answer = (struct answer){.arena = arena};
}

void answer_finish(struct answer *answer)
{
    if (answer == NULL)
        return;
    if (answer->body_on_heap)
        free(answer->body);
    answer_init(answer, answer->arena);
}

void answer_fault(struct answer *answer, const char *format, ...)
{
    va_list args;
    if (answer->fault != NULL)
        return;
    va_start(args, format);
    answer->fault = arena_vprintf(answer->arena, format, args).ptr;
    va_end(args);
}

void answer_set_status(struct answer *answer, int status)
{
    if (status < 200 || status > 599)
        answer_fault(answer, "status %d is outside 200..599", status);
    else
        answer->status = status;
}

static bool is_framing(cg_str name)
{
    for (size_t i = 0; i < sizeof framing_fields / sizeof *framing_fields; i++)
        if (str_is(name, framing_fields[i]))
            return true;
    return false;
}

static cg_str lower_copy(struct arena *arena, const char *name)
{
    cg_str copy = arena_copy(arena, name, strlen(name));
    for (char *c = (char *)copy.ptr; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* false, and a fault, when the pair could not be sent as one harmless field. */
static bool acceptable(struct answer *answer, const char *name, const char *value)
{
    if (name == NULL || value == NULL) {
        answer_fault(answer, "header %s is NULL", name == NULL ? "name" : name);
        return false;
    }
    if (!field_name_valid(cg_string(name))) {
        answer_fault(answer, "header name '%s' is no token", name);
        return false;
    }
    if (!field_value_valid(cg_string(value))) {
        answer_fault(answer, "the value of header '%s' holds a control character", name);
        return false;
    }
    return true;
}

static void append_field(struct answer *answer, cg_str name, cg_str value)
{
    if (answer->field_count >= ANSWER_MAX_FIELDS + (answer->given ? ANSWER_OWN_FIELDS : 0)) {
        answer_fault(answer, "more than %d headers", ANSWER_MAX_FIELDS);
        return;
    }
    answer->fields = arena_extend(answer->arena, answer->fields, answer->field_count, &answer->field_capacity,
                                  sizeof *answer->fields);
    answer->fields[answer->field_count++] = (cg_field){name, value};
}

static void remove_field(struct answer *answer, cg_str name)
{
    size_t kept = 0;
    for (size_t i = 0; i < answer->field_count; i++)
        if (!str_equal(answer->fields[i].name, name))
            answer->fields[kept++] = answer->fields[i];
    answer->field_count = kept;
}

static void put_field(struct answer *answer, const char *name, const char *value, bool replace)
{
    if (!acceptable(answer, name, value))
        return;
    cg_str lower = lower_copy(answer->arena, name);
    if (is_framing(lower))
        return;
    if (replace || str_is(lower, "content-type"))
        remove_field(answer, lower);
    cg_str trimmed = blank_trim(cg_string(value));
    append_field(answer, lower, arena_copy(answer->arena, trimmed.ptr, trimmed.len));
}

void answer_set_field(struct answer *answer, const char *name, const char *value)
{
    put_field(answer, name, value, true);
}

void answer_add_field(struct answer *answer, const char *name, const char *value)
{
    put_field(answer, name, value, false);
}

/* What RFC 6265, section 4.1.1 allows in a value, and a little more that browsers take: no ';' and no
   controls. */
void answer_set_cookie(struct answer *answer, const char *name, const char *value, const char *attributes)
{
    if (!acceptable(answer, name, value))
        return;
    if (strchr(value, ';') != NULL) {
        answer_fault(answer, "the value of cookie '%s' holds a ';'", name);
        return;
    }
    if (attributes != NULL && !acceptable(answer, "set-cookie", attributes))
        return;
    append_field(answer, STR("set-cookie"),
                 arena_printf(answer->arena, "%s=%s%s%s", name, value, attributes && *attributes ? "; " : "",
                              attributes ? attributes : ""));
}

const cg_field *answer_field(const struct answer *answer, const char *name)
{
    return fields_first(&(cg_fields){answer->fields, answer->field_count}, name);
}

static char *on_heap(struct answer *answer, char *body, size_t capacity)
{
    char *larger = realloc(body, capacity);
    if (larger == NULL)
        arena_exhausted(answer->arena);
    return larger;
}

static void reserve_body(struct answer *answer, size_t more)
{
    size_t need = answer->body_len + more;
    size_t capacity = answer->body_capacity ? answer->body_capacity : FIRST_BODY_CAPACITY;
    if (need <= answer->body_capacity)
        return;
    while (capacity < need)
        capacity *= 2;
    if (capacity <= ARENA_BODY_MAX) {
        answer->body = arena_grow(answer->arena, answer->body, answer->body_capacity, capacity);
    } else if (answer->body_on_heap) {
        answer->body = on_heap(answer, answer->body, capacity);
    } else {
        char *body = on_heap(answer, NULL, capacity);
        if (answer->body_len > 0)
            memcpy(body, answer->body, answer->body_len);
        answer->body = body;
        answer->body_on_heap = true;
    }
    answer->body_capacity = capacity;
}

void answer_write(struct answer *answer, const void *data, size_t len)
{
    if (len == 0)
        return;
    reserve_body(answer, len);
    memcpy(answer->body + answer->body_len, data, len);
    answer->body_len += len;
}

void answer_vprintf(struct answer *answer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    reserve_body(answer, 1);
    size_t room = answer->body_capacity - answer->body_len;
    int len = vsnprintf(answer->body + answer->body_len, room, format, args);
    if (len < 0) {
        answer_fault(answer, "a format that printf refuses: %s", format);
    } else if ((size_t)len >= room) {
        reserve_body(answer, (size_t)len + 1);
        vsnprintf(answer->body + answer->body_len, (size_t)len + 1, format, again);
    }
    if (len > 0)
        answer->body_len += (size_t)len;
    va_end(again);
}

void answer_begin(struct answer *answer, int status, const char *type)
{
    answer->body_len = 0;
    answer_set_status(answer, status);
    if (type == NULL)
        remove_field(answer, STR("content-type"));
    else
        answer_set_field(answer, "content-type", type);
}

void answer_text(struct answer *answer, int status, const char *format, ...)
{
    va_list args;
    if (answer->sent)
        return;
    answer_begin(answer, status, "text/plain; charset=utf-8");
    va_start(args, format);
    answer_vprintf(answer, format, args);
    va_end(args);
    answer_write(answer, "\n", 1);
}
