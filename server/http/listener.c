#include "http/listener.h"

#include "base/log.h"
#include "http/app.h"
#include "http/http1.h"
#include "http/http2.h"
#include "http/proxied.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

static void on_connection(h2o_socket_t *socket, const char *error);

static void established(struct transport *transport, bool h2)
{
    if (h2)
        http2_start(transport);
    else
        http1_start(transport);
}

static void begin_plain(struct transport *transport, struct tls_context *tls)
{
    (void)tls;
    http1_start(transport);
}

static void begin_redirect(struct transport *transport, struct tls_context *tls)
{
    (void)tls;
    http1_start_redirect(transport);
}

static void begin_tls(struct transport *transport, struct tls_context *tls)
{
    if (tls_start(transport, tls, established) != 0)
        transport->lost = true; /* whoever has called sees to that */
}

static void (*const beginnings[])(struct transport *transport, struct tls_context *tls) = {
    [LISTENER_PLAIN] = begin_plain,
    [LISTENER_TLS] = begin_tls,
    [LISTENER_REDIRECT] = begin_redirect,
};

static void begin(struct listener *listener, int fd, const struct sockaddr *peer)
{
    struct transport *transport = transport_create(listener->loop, fd, peer);
    listener->loop->counts.accepted++;
    if (listener->loop->app->settings->proxy_protocol)
        proxied_start(transport, listener->tls, beginnings[listener->kind]);
    else
        beginnings[listener->kind](transport, listener->tls);
    if (transport->lost)
        transport_abort(transport);
    else
        transport_start(transport);
}

static void go_on(struct timer *timer)
{
    struct listener *listener = list_item(timer, struct listener, pause);
    h2o_socket_read_start(listener->socket, on_connection);
}

/* Accepting again at once would only spin: the queue is the kernel's, nobody is refused meanwhile. */
static void pause_accepting(struct listener *listener, const char *reason)
{
    static _Thread_local int64_t told;
    struct loop *loop = listener->loop;
    if (log_is_due(&told, loop->now))
        log_warning("loop %u accepts no more for a moment: %s (%zu connections)", loop->index, reason,
                    loop->transport_count);
    h2o_socket_read_stop(listener->socket);
    timers_set(&loop->timers, &listener->pause, loop->now + LISTENER_PAUSE_MS);
}

/* Errors of one connection (ECONNABORTED and what accept(2) lists beside it) concern nobody else. */
static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void on_connection(h2o_socket_t *socket, const char *error)
{
    struct listener *listener = socket->data;
    struct loop *loop = listener->loop;
    (void)error;
    loop_wake(loop);
    for (int i = 0; i < LISTENER_BATCH; i++) {
        struct sockaddr_storage peer;
        socklen_t len = sizeof peer;
        if (loop->transport_count >= loop->app->settings->max_connections) {
            pause_accepting(listener, "MAX_CONNECTIONS is reached");
            return;
        }
        int fd =
            accept4(h2o_socket_get_fd(socket), (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            begin(listener, fd, (const struct sockaddr *)&peer);
        else if (errno == EAGAIN)
            return;
        else if (is_shortage(errno)) {
            pause_accepting(listener, strerror(errno));
            return;
        }
    }
}

void listener_init(struct listener *listener, struct loop *loop, const struct listener_socket *socket,
                   struct tls_context *tls)
{
    const int unsent = LISTENER_UNSENT_MAX; /* what it accepts has it too */
    setsockopt(socket->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    *listener = (struct listener){.loop = loop, .kind = socket->kind, .tls = tls, .pause = {.fire = go_on}};
    listener->socket = h2o_evloop_socket_create(loop->h2o, socket->fd, H2O_SOCKET_FLAG_DONT_READ);
    listener->socket->data = listener;
    h2o_socket_read_start(listener->socket, on_connection);
}

void listener_finish(struct listener *listener)
{
    if (listener == NULL || listener->socket == NULL)
        return;
    timers_cancel(&listener->loop->timers, &listener->pause);
    h2o_socket_close(listener->socket);
    listener->socket = NULL;
}
