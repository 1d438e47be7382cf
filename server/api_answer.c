/* What modules call to answer. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "app/event.h"
#include "app/templates.h"
#include "base/clock.h"
#include "base/log.h"
#include "parse/percent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_SIZE_MAX (256u << 20) /* of cg_reply_file */

static struct answer *answer_of(cg_event *event)
{
    return &event_of(event)->answer;
}

/* A stream's head has been sent, and somebody else may be reading it: nothing of it may change. */
static bool comes_too_late(const cg_event *event, const char *name)
{
    const struct event *self = event_of(event);
    if (self->answer.sent)
        log_error("%s: %s: %s after cg_stream is ignored", self->action->module->file, event->path.ptr, name);
    return self->answer.sent;
}

void cg_status(cg_event *event, int status)
{
    if (!comes_too_late(event, "cg_status"))
        answer_set_status(answer_of(event), status);
}

void cg_set_header(cg_event *event, const char *name, const char *value)
{
    if (!comes_too_late(event, "cg_set_header"))
        answer_set_field(answer_of(event), name, value);
}

void cg_add_header(cg_event *event, const char *name, const char *value)
{
    if (!comes_too_late(event, "cg_add_header"))
        answer_add_field(answer_of(event), name, value);
}

void cg_set_cookie(cg_event *event, const char *name, const char *value, const char *attributes)
{
    if (!comes_too_late(event, "cg_set_cookie"))
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
    if (comes_too_late(event, "cg_reply"))
        return;
    answer_begin(answer_of(event), status, type);
    va_start(args, format);
    answer_vprintf(answer_of(event), format, args);
    va_end(args);
}

void cg_reply_bytes(cg_event *event, int status, const char *type, const void *data, size_t len)
{
    if (comes_too_late(event, "cg_reply_bytes"))
        return;
    answer_begin(answer_of(event), status, type);
    answer_write(answer_of(event), data, len);
}

/* Below the app's folder whatever links and dots say, and never what the server keeps for itself. */
static int open_beneath(const char *path)
{
    const struct settings *settings = context.settings;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int folder = open(settings->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    int error = fd < 0 ? -errno : 0;
    close(folder);
    if (error != 0)
        return error;
    char self[32], real[PATH_MAX];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(self, real, sizeof real - 1);
    real[len > 0 ? len : 0] = '\0';
    size_t own = strlen(settings->state_dir);
    if (strncmp(real, settings->state_dir, own) == 0 && (real[own] == '/' || real[own] == '\0')) {
        close(fd);
        return -EACCES;
    }
    return fd;
}

/* A descriptor, or a negative errno. */
static int open_file(const char *path, off_t *ret_size)
{
    struct stat info;
    int fd = path == NULL ? -EINVAL : open_beneath(path), error = fd < 0 ? fd : 0;
    if (error == 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)))
        error = -EISDIR;
    if (error == 0 && info.st_size > (off_t)FILE_SIZE_MAX)
        error = -EFBIG;
    if (error == 0) {
        *ret_size = info.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return error;
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
    if (comes_too_late(event, "cg_reply_file"))
        return;
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
    const struct page_template *page =
        templates_get(templates_of_thread(), context.settings->functions_dir, file, monotonic_ms());
    if (page == NULL) {
        answer_fault(&self->answer, "template %s: %s", file, strerror(errno));
        return;
    }
    cg_str text = template_render(page, self->arena, values, count);
    cg_reply_bytes(event, status, "text/html; charset=utf-8", text.ptr, text.len);
}

static bool is_redirect(int status)
{
    return status == 300 || status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* What a URL can't hold as it is (RFC 3986, section 2) is escaped. */
static const char *escape_location(struct arena *arena, const char *location)
{
    char *start = arena_alloc(arena, 3 * strlen(location) + 1), *out = start;
    for (; *location != '\0'; location++) {
        unsigned char byte = (unsigned char)*location;
        if (byte == ' ' || byte == '"' || byte == '<' || byte == '>' || byte > 0x7e)
            out = percent_put(out, *location);
        else
            *out++ = *location;
    }
    *out = '\0';
    return start;
}

void cg_redirect(cg_event *event, int status, const char *location)
{
    if (comes_too_late(event, "cg_redirect"))
        return;
    if (!is_redirect(status) || location == NULL || *location == '\0') {
        answer_fault(answer_of(event), "cg_redirect to '%s' with status %d", location ? location : "(NULL)",
                     status);
        return;
    }
    answer_begin(answer_of(event), status, NULL);
    answer_set_field(answer_of(event), "location", escape_location(event_of(event)->arena, location));
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
