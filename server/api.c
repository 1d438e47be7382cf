/* What modules call. Each function checks what a careless caller could get wrong and hands on. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "app/event.h"
#include "app/json_read.h"
#include "app/json_text.h"
#include "app/seal.h"
#include "app/templates.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/call.h"
#include "parse/date.h"
#include "shm/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX (256u << 20) /* of cg_reply_file */

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
    return event_param(event_of(event), name);
}

const cg_field *cg_find(const cg_fields *fields, const char *name)
{
    return fields_first(fields, name);
}

int cg_keep_file(cg_event *event, const cg_file *file, const char *path)
{
    struct spool *spool = form_spool(event_of(event)->body.form, file);
    if (spool == NULL || path == NULL || *path == '\0')
        return -EINVAL;
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

/* ---- the answer ---- */

void cg_status(cg_event *event, int status)
{
    answer_set_status(answer_of(event), status);
}

void cg_set_header(cg_event *event, const char *name, const char *value)
{
    answer_set_field(answer_of(event), name, value);
}

void cg_add_header(cg_event *event, const char *name, const char *value)
{
    answer_add_field(answer_of(event), name, value);
}

void cg_set_cookie(cg_event *event, const char *name, const char *value, const char *attributes)
{
    answer_set_cookie(answer_of(event), name, value, attributes);
}

void cg_write(cg_event *event, const void *data, size_t len)
{
    answer_write(answer_of(event), data, len);
}

void cg_print(cg_event *event, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    answer_vprintf(answer_of(event), format, args);
    va_end(args);
}

void cg_reply(cg_event *event, int status, const char *type, const char *format, ...)
{
    va_list args;
    answer_begin(answer_of(event), status, type);
    va_start(args, format);
    answer_vprintf(answer_of(event), format, args);
    va_end(args);
}

void cg_reply_bytes(cg_event *event, int status, const char *type, const void *data, size_t len)
{
    answer_begin(answer_of(event), status, type);
    answer_write(answer_of(event), data, len);
}

static bool climbs(const char *path)
{
    for (const char *segment = path; segment != NULL; segment = strchr(segment, '/')) {
        segment += *segment == '/';
        if (strncmp(segment, "..", 2) == 0 && (segment[2] == '/' || segment[2] == '\0'))
            return true;
    }
    return false;
}

/* Opens a regular file below the app's folder (or at an absolute path): a descriptor, or a negative errno. */
static int open_file(const char *path, off_t *ret_size)
{
    struct stat info;
    if (path == NULL || climbs(path))
        return -EACCES;
    int folder = open(context.settings->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int error = fd < 0 ? -errno : 0;
    close(folder);
    if (error == 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)))
        error = -EISDIR;
    if (error == 0 && info.st_size > (off_t)FILE_SIZE_MAX)
        error = -EFBIG;
    if (error != 0) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    *ret_size = info.st_size;
    return fd;
}

static void no_file(cg_event *event, const char *path, int error)
{
    log_warning("%s: cg_reply_file: %s: %s", event_of(event)->action->module->name, path ? path : "(NULL)",
                strerror(-error));
    answer_text(answer_of(event), 404, "404 - Page not found");
}

void cg_reply_file(cg_event *event, int status, const char *type, const char *path)
{
    off_t size = 0;
    int fd = open_file(path, &size);
    if (fd < 0) {
        no_file(event, path, fd);
        return;
    }
    char piece[16 * 1024];
    ssize_t got;
    answer_begin(answer_of(event), status, type);
    while ((got = read(fd, piece, sizeof piece)) > 0 && size > 0) {
        answer_write(answer_of(event), piece, (size_t)(got < size ? got : size));
        size -= got < size ? got : size;
    }
    close(fd);
    if (size != 0)
        no_file(event, path, -EIO);
}

void cg_reply_template(cg_event *event, int status, const char *file, const cg_field *values, size_t count)
{
    struct event *self = event_of(event);
    const struct template *template =
        templates_get(templates_of_thread(), context.settings->functions_dir, file, monotonic_ms());
    if (template == NULL) {
        answer_fault(&self->answer, "template %s: %s", file, strerror(errno));
        return;
    }
    cg_str text = template_render(template, self->arena, values, count);
    cg_reply_bytes(event, status, "text/html; charset=utf-8", text.ptr, text.len);
}

void cg_redirect(cg_event *event, int status, const char *location)
{
    if (status < 300 || status > 399) {
        answer_fault(answer_of(event), "cg_redirect with status %d", status);
        return;
    }
    answer_begin(answer_of(event), status, NULL);
    answer_set_field(answer_of(event), "location", location);
}

const char *cg_html(cg_event *event, const char *text)
{
    return html_escape(event_of(event)->arena, cg_string(text)).ptr;
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

void cg_reply_json(cg_event *event, int status, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    json_decref(json);
    if (text == NULL) {
        answer_fault(answer_of(event), "cg_reply_json: no JSON");
        return;
    }
    cg_reply_bytes(event, status, "application/json; charset=utf-8", text, strlen(text));
    free(text);
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

/* ---- shared memory ---- */

static cg_counter *counter_or_errno(int error, struct shm_counter *counter)
{
    if (error == 0)
        return (cg_counter *)counter;
    errno = -error;
    return NULL;
}

cg_counter *cg_counter_open(const char *name)
{
    struct shm_counter *counter = NULL;
    int error = shm_counter_open(context.shm, name, &counter);
    return counter_or_errno(error, counter);
}

cg_counter *cg_gauge_open(const char *name)
{
    struct shm_counter *counter = NULL;
    int error = shm_gauge_open(context.shm, name, &counter);
    return counter_or_errno(error, counter);
}

int64_t cg_counter_add(cg_counter *counter, int64_t n)
{
    return shm_counter_add(context.shm, (struct shm_counter *)counter, n);
}

int64_t cg_counter_get(const cg_counter *counter)
{
    return shm_counter_get((const struct shm_counter *)counter);
}

int cg_shm_set(const char *collection, const char *key, const void *data, size_t len, int64_t ttl)
{
    return shm_key_set(context.shm, collection, key, data, len, ttl);
}

int cg_shm_create(const char *collection, const char *key, const void *data, size_t len, int64_t ttl)
{
    return shm_key_create(context.shm, collection, key, data, len, ttl);
}

int cg_shm_cas(const char *collection, const char *key, cg_str expected, cg_str data, int64_t ttl)
{
    return shm_key_cas(context.shm, collection, key, expected.ptr, expected.len, data.ptr, data.len, ttl);
}

static void *from_arena(void *arena, size_t size)
{
    return arena_try(arena, size);
}

cg_str cg_shm_get(cg_event *event, const char *collection, const char *key)
{
    char *value = NULL;
    size_t len = 0;
    int error = shm_key_get(context.shm, collection, key, from_arena, event_of(event)->arena, &value, &len);
    return error == 0 ? cg_bytes(value, len) : cg_bytes(NULL, 0);
}

int64_t cg_shm_read(const char *collection, const char *key, void *buffer, size_t size)
{
    size_t len = 0;
    int error = shm_key_read(context.shm, collection, key, buffer, size, &len);
    return error ? error : (int64_t)len;
}

int cg_shm_delete(const char *collection, const char *key)
{
    return shm_key_delete(context.shm, collection, key);
}

int cg_shm_incr(const char *collection, const char *key, int64_t n, int64_t ttl, int64_t *result)
{
    int64_t sum = 0;
    int error = shm_key_incr(context.shm, collection, key, n, ttl, &sum);
    if (error == 0 && result != NULL)
        *result = sum;
    return error;
}

struct key_list {
    struct arena *arena;
    cg_field *items;
    size_t count, capacity;
};

static int add_key(void *data, const char *key, size_t len)
{
    struct key_list *list = data;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = arena_grow(list->arena, list->items, list->capacity * sizeof(cg_field),
                                 capacity * sizeof(cg_field));
        list->capacity = capacity;
    }
    list->items[list->count++] = (cg_field){arena_copy(list->arena, key, len), cg_bytes("", 0)};
    return 0;
}

cg_fields cg_shm_keys(cg_event *event, const char *collection)
{
    struct key_list list = {.arena = event_of(event)->arena};
    if (shm_keys_each(context.shm, collection, add_key, &list) != 0)
        list.count = 0;
    return (cg_fields){list.items, list.count};
}

int cg_shm_clear(const char *collection)
{
    return shm_keys_clear(context.shm, collection);
}

int cg_shm_lock(cg_event *event, const char *name, int wait_ms)
{
    struct event *self = event_of(event);
    int error = shm_lock(context.shm, name, self->owner, wait_ms);
    if (error == 0)
        self->holds_lock = true;
    return error;
}

int cg_shm_unlock(cg_event *event, const char *name)
{
    int error = shm_unlock(context.shm, name, event_of(event)->owner);
    return error == -ENOENT ? -EPERM : error;
}

/* ---- later ---- */

static struct call *call_of(const cg_event *event)
{
    return (struct call *)event;
}

void cg_defer(cg_event *event)
{
    call_defer(call_of(event));
}

void cg_finish(cg_event *event)
{
    call_finish(call_of(event));
}

int cg_gone(const cg_event *event)
{
    return atomic_load(&call_of(event)->gone);
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
