/* What modules call to answer. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "app/event.h"
#include "app/json_text.h"
#include "app/templates.h"
#include "base/clock.h"
#include "base/log.h"
#include "parse/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX (256u << 20) /* of cg_reply_file */

static struct answer *answer_of(cg_event *event)
{
    return &event_of(event)->answer;
}

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

/* Opens a regular file below the app's folder (or at an absolute path): a descriptor, or a negative errno. */
static int open_file(const char *path, off_t *ret_size)
{
    struct stat info;
    if (path == NULL || !path_stays_below(path + strspn(path, "/")))
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
