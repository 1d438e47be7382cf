/* What modules call; to answer, and for shared memory, see beside. Each function checks what a careless
   caller could get wrong and hands on. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "app/event.h"
#include "app/json_read.h"
#include "app/json_text.h"
#include "app/seal.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/call.h"
#include "parse/date.h"
#include "parse/field.h"
#include "parse/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct answer *answer_of(cg_event *event)
{
    return &event_of(event)->answer;
}

/* ---- looking into the event ---- */

static const char *value_of(const cg_field *field)
{
    return field ? field->value.ptr : NULL;
}

const char *cg_header(const cg_event *event, const char *name)
{
    return event_header(event_of(event), name);
}

const char *cg_cookie(const cg_event *event, const char *name)
{
    return value_of(fields_first(&event->cookies, name));
}

const char *cg_query(const cg_event *event, const char *name)
{
    return value_of(fields_last(&event->query_params, name));
}

const char *cg_path_param(const cg_event *event, const char *name)
{
    return value_of(fields_first(&event->path_params, name));
}

const char *cg_form(const cg_event *event, const char *name)
{
    return value_of(fields_last(&event->form, name));
}

const char *cg_param(cg_event *event, const char *name)
{
    return event_param(event_of(event), name).ptr;
}

const cg_field *cg_find(const cg_fields *fields, const char *name)
{
    return fields_first(fields, name);
}

int cg_keep_file(cg_event *event, const cg_file *file, const char *path)
{
    struct call *call = call_in(event, "cg_keep_file");
    struct spool *spool = call ? form_spool(call->body.form, file) : NULL;
    if (spool == NULL || path == NULL || *path == '\0')
        return -EINVAL;
    if (*path != '/' && !path_stays_below(path))
        return -EACCES;
    if (*path != '/')
        path = cg_sprintf(event, "%s/%s", context.settings->root, path);
    return spool_keep(spool, path, context.file_mode);
}

int cg_parse_int(const char *text, int64_t min, int64_t max, int64_t *value)
{
    char *end;
    if (text == NULL ||
        !((*text >= '0' && *text <= '9') || (*text == '-' && text[1] >= '0' && text[1] <= '9')))
        return -EINVAL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*end != '\0')
        return -EINVAL;
    if (errno == ERANGE || number < min || number > max)
        return -ERANGE;
    *value = number;
    return 0;
}

/* ---- JSON ---- */

json_t *cg_json(cg_event *event)
{
    return event_json(event_of(event));
}

int cg_json_read(cg_event *event, const char *format, ...)
{
    char error[JSON_READ_ERROR_SIZE];
    json_t *json = event_json(event_of(event));
    if (json == NULL)
        return -EINVAL;
    va_list args;
    va_start(args, format);
    int result = json_read(json, error, format, args);
    va_end(args);
    if (result != 0)
        answer_text(answer_of(event), 400, "the body is not what is expected: %s", error);
    return result;
}

const char *cg_json_quote(cg_event *event, const char *text)
{
    return json_quote(event_of(event)->arena, cg_string(text)).ptr;
}

/* ---- memory ---- */

void *cg_alloc(cg_event *event, size_t size)
{
    return arena_zalloc(event_of(event)->arena, size);
}

char *cg_strdup(cg_event *event, const char *text)
{
    return (char *)arena_copy(event_of(event)->arena, text, strlen(text)).ptr;
}

char *cg_sprintf(cg_event *event, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cg_str text = arena_vprintf(event_of(event)->arena, format, args);
    va_end(args);
    return (char *)text.ptr;
}

/* ---- later ---- */

void cg_defer(cg_event *event)
{
    struct call *call = call_in(event, "cg_defer");
    if (call != NULL)
        call_defer(call);
}

void cg_finish(cg_event *event)
{
    struct call *call = call_in(event, "cg_finish");
    if (call != NULL)
        call_finish(call);
}

int cg_gone(const cg_event *event)
{
    const struct call *call = call_in(event, "cg_gone");
    return call == NULL || atomic_load(&call->gone);
}

/* ---- sealed text ---- */

const char *cg_seal(cg_event *event, const void *data, size_t len, int64_t seconds)
{
    int64_t now = wall_ms(), most = (INT64_MAX - now) / 1000;
    return seal(&context.seal, event_of(event)->arena, data, len,
                now + (seconds < most ? seconds : most) * 1000)
        .ptr;
}

int cg_unseal(cg_event *event, const char *sealed, cg_str *ret)
{
    return unseal(&context.seal, event_of(event)->arena, cg_string(sealed), wall_ms(), ret);
}

/* ---- the world ---- */

void cg_log(const cg_event *event, cg_level level, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (event != NULL)
        log_line(level, "%s: %s (request %s)", event_of(event)->action->module->name, text, event->id.ptr);
    else
        log_line(level, "%s", text);
}

const char *cg_env(const char *name)
{
    return getenv(name);
}

int64_t cg_now_ms(void)
{
    return wall_ms();
}

const char *cg_time_text(cg_event *event, int64_t ms)
{
    char *text = arena_alloc(event_of(event)->arena, 30);
    date_format(ms / 1000, text);
    return text;
}
