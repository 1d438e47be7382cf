#include "process/handover.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "process/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NUMBER_MAX 1000000000L

static const char *const kind_names[] = {
    [LISTENER_PLAIN] = "plain",
    [LISTENER_TLS] = "tls",
    [LISTENER_REDIRECT] = "redirect",
};
#define KINDS (sizeof kind_names / sizeof *kind_names)

char *handover_text(const struct inheritance *inheritance)
{
    struct buffer text = {.data = NULL};
    buffer_printf(&text, "shm:%d,supervisor:%d,ssl_port:%d,reload:%d", inheritance->shm_fd,
                  inheritance->supervisor_fd, inheritance->ssl_port, inheritance->reload);
    for (size_t i = 0; i < inheritance->listener_count; i++) {
        const struct listener_socket *listener = &inheritance->listeners[i];
        buffer_printf(&text, ",%s:%d/%u", kind_names[listener->kind], listener->fd, listener->loop);
    }
    return buffer_detach(&text);
}

/* These move *text on when they find what they look for. */

static bool word(const char **text, const char *expected)
{
    size_t len = strlen(expected);
    if (strncmp(*text, expected, len) != 0)
        return false;
    *text += len;
    return true;
}

static bool number(const char **text, long max, int *ret)
{
    const char *c = *text;
    long value = 0;
    if (*c < '0' || *c > '9' || (*c == '0' && c[1] >= '0' && c[1] <= '9'))
        return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (*c - '0');
        if (value > max)
            return false;
    }
    *text = c;
    *ret = (int)value;
    return true;
}

static bool named_number(const char **text, const char *name, long max, int *ret)
{
    return word(text, name) && word(text, ":") && number(text, max, ret);
}

static bool listener_of(const char **text, struct listener_socket *ret)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        int fd, loop;
        if (!word(text, kind_names[kind]))
            continue;
        if (!word(text, ":") || !number(text, NUMBER_MAX, &fd) || !word(text, "/") ||
            !number(text, NUMBER_MAX, &loop))
            return false;
        *ret = (struct listener_socket){.fd = fd, .loop = (unsigned)loop, .kind = (enum listener_kind)kind};
        return true;
    }
    return false;
}

int handover_parse(const char *text, struct inheritance *ret_inheritance)
{
    struct inheritance found = {.listeners = NULL};
    struct listener_socket *listeners = NULL;
    int reload;
    if (!named_number(&text, "shm", NUMBER_MAX, &found.shm_fd) || !word(&text, ",") ||
        !named_number(&text, "supervisor", NUMBER_MAX, &found.supervisor_fd) || !word(&text, ",") ||
        !named_number(&text, "ssl_port", 65535, &found.ssl_port) || !word(&text, ",") ||
        !named_number(&text, "reload", 1, &reload))
        return -EINVAL;
    found.reload = reload;
    while (word(&text, ",")) {
        listeners = xrealloc(listeners, (found.listener_count + 1) * sizeof *listeners);
        if (!listener_of(&text, &listeners[found.listener_count]))
            goto malformed;
        found.listener_count++;
    }
    if (*text != '\0' || listeners == NULL)
        goto malformed;
    found.listeners = listeners;
    *ret_inheritance = found;
    return 0;

malformed:
    free(listeners);
    return -EINVAL;
}

void handover_finish(struct inheritance *inheritance)
{
    free((void *)inheritance->listeners);
    *inheritance = (struct inheritance){.shm_fd = -1, .supervisor_fd = -1};
}

static bool is_listening(int fd)
{
    int listening = 0;
    socklen_t len = sizeof listening;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening;
}

static bool make_private(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static int take_descriptors(const struct inheritance *inheritance)
{
    if (!make_private(inheritance->shm_fd) || !make_private(inheritance->supervisor_fd))
        return -EBADF;
    for (size_t i = 0; i < inheritance->listener_count; i++) {
        int fd = inheritance->listeners[i].fd;
        if (!make_private(fd) || !is_listening(fd))
            return -EBADF;
    }
    return 0;
}

int handover_take(struct inheritance *ret_inheritance)
{
    struct inheritance found;
    const char *value = getenv(HANDOVER_VARIABLE);
    if (value == NULL)
        return 0;
    int error = handover_parse(value, &found);
    unsetenv(HANDOVER_VARIABLE);
    if (error < 0)
        return error;
    error = take_descriptors(&found);
    if (error < 0) {
        handover_finish(&found);
        return error;
    }
    *ret_inheritance = found;
    return 1;
}

unsigned handover_loops(const struct inheritance *inheritance)
{
    unsigned loops = 0;
    for (size_t i = 0; i < inheritance->listener_count; i++) {
        if (inheritance->listeners[i].loop >= loops)
            loops = inheritance->listeners[i].loop + 1;
    }
    return loops;
}

/* -1: there is none of that kind. */
static int bound_port(const struct inheritance *inheritance, enum listener_kind kind)
{
    for (size_t i = 0; i < inheritance->listener_count; i++) {
        struct address address = {.len = sizeof address.socket};
        if (inheritance->listeners[i].kind == kind &&
            getsockname(inheritance->listeners[i].fd, &address.socket.any, &address.len) == 0)
            return address_port(&address);
    }
    return -1;
}

/* 0 asks for any port, and has got one. */
static bool port_fits(int wanted, int bound)
{
    return wanted == 0 ? bound >= 0 : wanted == bound;
}

char *handover_conflict(const struct inheritance *inheritance, const struct settings *settings)
{
    const int tls = bound_port(inheritance, LISTENER_TLS);
    const int plain = bound_port(inheritance, tls >= 0 ? LISTENER_REDIRECT : LISTENER_PLAIN);
    if (settings->ssl != (tls >= 0))
        return xsprintf("SSL is %d", settings->ssl);
    if (settings->ssl && !port_fits(settings->ssl_port, tls))
        return xsprintf("SSL_PORT is %d", settings->ssl_port);
    if (!port_fits(settings->port, plain))
        return xsprintf("PORT is %d", settings->port);
    return NULL;
}
