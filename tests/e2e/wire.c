#include "wire.h"

#include "harness.h"
#include "reply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HANG 40 /* seconds of silence after which the server counts as hung */

struct wire {
    int fd;
    SSL_CTX *context;
    SSL *tls;      /* NULL: plain */
    char *pending; /* received and not yet asked for */
    size_t len, capacity;
    bool ended;
};

struct wire *wire_open(int port)
{
    struct wire *wire = calloc(1, sizeof *wire);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = HANG};
    int on = 1;
    ck_assert_ptr_nonnull(wire);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    wire->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(wire->fd, 0);
    setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(wire->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(wire->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ck_assert_msg(connect(wire->fd, (struct sockaddr *)&address, sizeof address) == 0, "connect: %s",
                  strerror(errno));
    return wire;
}

struct wire *wire_open_tls(int port, const struct tls_options *options)
{
    struct wire *wire = wire_open(port);
    wire->context = SSL_CTX_new(TLS_client_method());
    ck_assert_ptr_nonnull(wire->context);
    if (options->min != 0)
        SSL_CTX_set_min_proto_version(wire->context, options->min);
    if (options->max != 0)
        SSL_CTX_set_max_proto_version(wire->context, options->max);
    /* Old versions are for the server to refuse, not for our own library. */
    SSL_CTX_set_security_level(wire->context, 0);
    wire->tls = SSL_new(wire->context);
    ck_assert_ptr_nonnull(wire->tls);
    if (options->alpn != NULL)
        SSL_set_alpn_protos(wire->tls, (const unsigned char *)options->alpn, (unsigned)strlen(options->alpn));
    SSL_set_fd(wire->tls, wire->fd);
    if (SSL_connect(wire->tls) == 1)
        return wire;
    wire_close(wire);
    return NULL;
}

const char *wire_tls_version(const struct wire *wire)
{
    return SSL_get_version(wire->tls);
}

char *wire_alpn(const struct wire *wire)
{
    const unsigned char *name;
    unsigned len;
    SSL_get0_alpn_selected(wire->tls, &name, &len);
    return strndup(len > 0 ? (const char *)name : "", len);
}

char *wire_subject(const struct wire *wire)
{
    X509 *certificate = SSL_get1_peer_certificate(wire->tls);
    ck_assert_ptr_nonnull(certificate);
    char *subject = X509_NAME_oneline(X509_get_subject_name(certificate), NULL, 0);
    X509_free(certificate);
    return subject;
}

void wire_send(struct wire *wire, const void *data, size_t len)
{
    const char *bytes = data;
    while (len > 0) {
        ssize_t sent = wire->tls != NULL ? SSL_write(wire->tls, bytes, len > 1 << 20 ? 1 << 20 : (int)len)
                                         : send(wire->fd, bytes, len, MSG_NOSIGNAL);
        ck_assert_msg(sent > 0 || (errno != EAGAIN && errno != EWOULDBLOCK), "the server does not read");
        if (sent <= 0)
            return;
        bytes += sent;
        len -= (size_t)sent;
    }
}

void wire_print(struct wire *wire, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    ck_assert_int_ge(len, 0);
    wire_send(wire, text, (size_t)len);
    free(text);
}

void wire_send_split(struct wire *wire, const void *data, size_t len, size_t at)
{
    wire_send(wire, data, at);
    nanosleep(&(struct timespec){0, 500 * 1000}, NULL);
    wire_send(wire, (const char *)data + at, len - at);
}

void wire_half_close(struct wire *wire)
{
    if (wire->tls != NULL)
        SSL_shutdown(wire->tls);
    shutdown(wire->fd, SHUT_WR);
}

void wire_close(struct wire *wire)
{
    if (wire == NULL)
        return;
    SSL_free(wire->tls);
    SSL_CTX_free(wire->context);
    ERR_clear_error();
    close(wire->fd);
    free(wire->pending);
    free(wire);
}

void wire_reset(struct wire *wire)
{
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    wire_close(wire);
}

/* Reads once. A reset ends a connection like a FIN: what came before it counts. */
static bool pull(struct wire *wire)
{
    char buffer[65536];
    if (wire->ended)
        return false;
    errno = 0;
    ssize_t len = wire->tls != NULL ? SSL_read(wire->tls, buffer, sizeof buffer)
                                    : recv(wire->fd, buffer, sizeof buffer, 0);
    if (len < 0)
        ck_assert_msg(errno != EAGAIN && errno != EWOULDBLOCK, "the server is silent after\n%.*s",
                      (int)wire->len, wire->pending ? wire->pending : "");
    if (len <= 0) {
        wire->ended = true;
        return false;
    }
    if (wire->len + (size_t)len >= wire->capacity) {
        wire->capacity = 2 * (wire->len + (size_t)len) + 1;
        wire->pending = realloc(wire->pending, wire->capacity);
        ck_assert_ptr_nonnull(wire->pending);
    }
    memcpy(wire->pending + wire->len, buffer, (size_t)len);
    wire->len += (size_t)len;
    wire->pending[wire->len] = '\0';
    return true;
}

bool wire_take(struct wire *wire, void *ret_data, size_t len)
{
    while (wire->len < len)
        if (!pull(wire))
            return false;
    memcpy(ret_data, wire->pending, len);
    wire->len -= len;
    memmove(wire->pending, wire->pending + len, wire->len + 1);
    return true;
}

struct answer *wire_answer_or_end(struct wire *wire, const char *method)
{
    struct answer *answer;
    size_t used;
    while ((used = reply_parse(wire->pending, wire->len, wire->ended, method, &answer)) == 0) {
        if (pull(wire))
            continue;
        if (wire->len == 0)
            return NULL;
        used = reply_parse(wire->pending, wire->len, true, method, &answer);
        ck_assert_msg(used != 0, "the answer is cut short\n%.*s", (int)wire->len, wire->pending);
        break;
    }
    wire->len -= used;
    memmove(wire->pending, wire->pending + used, wire->len + 1);
    return answer;
}

struct answer *wire_answer(struct wire *wire, const char *method)
{
    struct answer *answer = wire_answer_or_end(wire, method);
    ck_assert_msg(answer != NULL, "the server closed without an answer");
    return answer;
}

void wire_expect_end(struct wire *wire)
{
    while (wire->len == 0 && pull(wire))
        ;
    ck_assert_msg(wire->len == 0, "more than was asked for\n%.*s", (int)wire->len, wire->pending);
}

bool wire_ended_cleanly(const struct wire *wire)
{
    return (SSL_get_shutdown(wire->tls) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool wire_silent(struct wire *wire, int ms)
{
    struct pollfd readable = {.fd = wire->fd, .events = POLLIN};
    return wire->len == 0 && (wire->tls == NULL || SSL_pending(wire->tls) == 0) &&
           poll(&readable, 1, ms) == 0;
}

struct answer *wire_once(int port, const void *data, size_t len)
{
    struct wire *wire = wire_open(port);
    wire_send(wire, data, len);
    struct answer *answer = wire_answer(wire, "GET");
    wire_expect_end(wire);
    wire_close(wire);
    return answer;
}
