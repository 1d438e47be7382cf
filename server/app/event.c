#include "app/event.h"

#include "app/context.h"
#include "app/fault.h"
#include "base/buffer.h"
#include "base/log.h"
#include "parse/cookie.h"
#include "parse/field.h"
#include "parse/path.h"
#include "parse/query.h"
#include "shm/locks.h"

#include <string.h>
#include <strings.h>

static cg_str value_of(const cg_field *field)
{
    return field ? field->value : cg_bytes(NULL, 0);
}

const char *event_header(const struct event *event, const char *name)
{
    const cg_fields *headers = &event->public.headers;
    for (size_t i = 0; i < headers->count; i++)
        if (strcasecmp(headers->items[i].name.ptr, name) == 0)
            return headers->items[i].value.ptr;
    return NULL;
}

/* The values are percent-decoded once more here, because `%2F` and `%25` stay encoded in a normalised
   path. */
static void take_path_params(struct event *event, const struct match *match)
{
    cg_field *items = arena_alloc(event->arena, match->count * sizeof *items);
    for (size_t i = 0; i < match->count; i++) {
        items[i].name = match->params[i].name;
        char *value = arena_alloc(event->arena, match->params[i].value.len + 1);
        items[i].value =
            cg_bytes(value, path_decode(match->params[i].value.ptr, match->params[i].value.len, value));
    }
    event->public.path_params = (cg_fields){items, match->count};
}

bool event_type_is(const struct event *event, const char *wanted)
{
    const char *type = event_header(event, "content-type");
    size_t len = strlen(wanted);
    return type != NULL && strncasecmp(type, wanted, len) == 0 &&
           (type[len] == '\0' || type[len] == ';' || type[len] == ' ' || type[len] == '\t');
}

int event_parse(struct event *event, const struct match *match)
{
    cg_event *public = &event->public;
    const char *cookie = event_header(event, "cookie");
    if (cookie != NULL)
        cookie_parse(cg_string(cookie), event->arena, &public->cookies);
    if (public->query.len > 0 &&
        query_parse(public->query, EVENT_MAX_PAIRS, event->arena, &public->query_params) != 0)
        return -413;
    if (match->count > 0)
        take_path_params(event, match);
    return 0;
}

void event_release_locks(struct event *event)
{
    if (event->holds_lock)
        shm_unlock_all(context.shm, event->owner);
    event->holds_lock = false;
}

void event_finish(struct event *event)
{
    event_release_locks(event);
    json_decref(event->json);
    event->json = NULL;
    answer_finish(&event->answer);
}

/* The event whose function this thread is in. */
static _Thread_local struct event *current;

static void tell_crash(struct event *event)
{
    struct buffer text = {0};
    if (context.faulted != NULL) /* first of all: what follows may never end, in memory that is broken */
        context.faulted(event->action->module);
    fault_describe(event->action->module, &text);
    answer_finish(&event->answer);
    answer_fault(&event->answer, "%s", text.data);
    buffer_finish(&text);
}

/* The answer that is left of a call which was not. */
static void tell_escape(struct event *event, enum escape escape)
{
    if (escape == ESCAPE_MEMORY) {
        answer_fault(&event->answer, "out of memory");
    } else if (escape == ESCAPE_CRASH) {
        tell_crash(event);
    } else {
        log_error("%s: %s %s: did not return within %lld ms; cut off, answered 504 (request %s)",
                  event->action->module->name, event->public.method.ptr, event->public.path.ptr,
                  (long long)event->action->loop_timeout, event->public.id.ptr);
        answer_finish(&event->answer);
        answer_text(&event->answer, 504, "504 - The function took too long");
    }
}

bool event_call(struct event *event, void (*call)(void *arg), void *arg)
{
    struct event *before = current;
    jmp_buf *outer = fault_begin(&event->escape, event->action);
    current = event;
    const int escape = _setjmp(event->escape);
    if (escape == ESCAPE_NONE)
        call(arg);
    fault_end(outer);
    current = before;
    if (escape != ESCAPE_NONE)
        tell_escape(event, (enum escape)escape);
    return escape == ESCAPE_NONE;
}

static void call_handler(void *arg)
{
    struct event *event = arg;
    event->action->handler(&event->public);
}

void event_call_handler(struct event *event)
{
    event_call(event, call_handler, event);
}

void event_exhausted(struct arena *arena)
{
    if (current != NULL && current->arena == arena)
        longjmp(current->escape, ESCAPE_MEMORY);
}

struct body_call {
    struct event *event;
    const char *data;
    size_t len;
    int result;
};

static void call_body(void *arg)
{
    struct body_call *call = arg;
    call->result = call->event->action->module->hooks.body(&call->event->public, call->data, call->len);
}

int event_call_body(struct event *event, const char *data, size_t len)
{
    struct body_call call = {event, data, len, 500};
    event_call(event, call_body, &call);
    return call.result;
}

/* The body, parsed at the first call; NULL when it is no JSON. */
static json_t *parse_json(struct event *event)
{
    const cg_str body = event->public.body;
    if (!event->json_tried)
        event->json =
            json_loadb(body.ptr, body.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &event->json_error);
    event->json_tried = true;
    return event->json;
}

json_t *event_json(struct event *event)
{
    const json_error_t *error = &event->json_error;
    if (parse_json(event) == NULL)
        answer_text(&event->answer, 400, "the body is no JSON: line %d, column %d: %s", error->line,
                    error->column, error->text);
    return event->json;
}

/* Text of a string, number or boolean; absent for the rest. */
static cg_str text_of(struct event *event, const json_t *value)
{
    if (json_is_string(value))
        return cg_bytes(json_string_value(value), json_string_length(value));
    if (json_is_boolean(value))
        return cg_string(json_is_true(value) ? "true" : "false");
    if (json_is_integer(value))
        return arena_printf(event->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return arena_printf(event->arena, "%.17g", json_real_value(value));
    return cg_bytes(NULL, 0);
}

/* A body that is no JSON is no error here: whether one must be there is not for a look-up to say. */
static cg_str json_param(struct event *event, const char *name)
{
    if (event->public.body.len > 0 && event_type_is(event, "application/json"))
        parse_json(event);
    return json_is_object(event->json) ? text_of(event, json_object_get(event->json, name))
                                       : cg_bytes(NULL, 0);
}

cg_str event_param(struct event *event, const char *name)
{
    const cg_event *public = &event->public;
    cg_str value = value_of(fields_first(&public->path_params, name));
    if (value.ptr == NULL)
        value = value_of(fields_last(&public->form, name));
    if (value.ptr == NULL)
        value = json_param(event, name);
    if (value.ptr == NULL)
        value = value_of(fields_last(&public->query_params, name));
    return value;
}
