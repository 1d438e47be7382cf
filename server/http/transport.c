#include "http/transport.h"

#include "base/alloc.h"
#include "http/tls.h"
#include "http/transport_output.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

static void on_readable(h2o_socket_t *socket, const char *error);
static void on_writable(h2o_socket_t *socket, const char *error);
static void on_timer(struct timer *timer);

static void set_peer(struct transport *transport, const struct sockaddr *peer)
{
    if (peer->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)peer;
        inet_ntop(AF_INET, &in->sin_addr, transport->ip, sizeof transport->ip);
    } else if (peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)peer;
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
            inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], transport->ip, sizeof transport->ip);
        else
            inet_ntop(AF_INET6, &in6->sin6_addr, transport->ip, sizeof transport->ip);
    }
}

struct transport *transport_create(struct loop *loop, int fd, const struct sockaddr *peer)
{
    const int on = 1;
    struct transport *transport = xzalloc(sizeof *transport);
    transport->loop = loop;
    transport->timer.fire = on_timer;
    set_peer(transport, peer);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    transport->socket = h2o_evloop_socket_create(
        loop->h2o, fd, H2O_SOCKET_FLAG_DONT_READ | H2O_SOCKET_FLAG_IS_ACCEPTED_CONNECTION);
    transport->socket->data = transport;
    list_append(&loop->transports, &transport->link);
    loop->transport_count++;
    return transport;
}

static void watch_reading(struct transport *transport, bool wanted)
{
    if (wanted == transport->reading)
        return;
    transport->reading = wanted;
    if (transport->hang_up_watched)
        hangups_ignore(&transport->loop->hangups, h2o_socket_get_fd(transport->socket));
    transport->hang_up_watched = false;
    if (wanted)
        h2o_socket_read_start(transport->socket, on_readable);
    else
        h2o_socket_read_stop(transport->socket);
}

void transport_start(struct transport *transport)
{
    watch_reading(transport, true);
}

static void release(struct transport *transport)
{
    struct loop *loop = transport->loop;
    if (loop->output.owner == transport)
        loop->output.owner = NULL;
    if (transport->hang_up_watched) /* a child of a function may hold the socket open */
        hangups_ignore(&loop->hangups, h2o_socket_get_fd(transport->socket));
    timers_cancel(&loop->timers, &transport->timer);
    list_remove(&transport->link);
    loop->transport_count--;
    tls_destroy(transport->tls);
    buffer_finish(&transport->stash);
    buffer_finish(&transport->pending);
    h2o_socket_close(transport->socket);
    free(transport);
}

static void detach_protocol(struct transport *transport)
{
    const struct protocol *protocol = transport->protocol;
    transport->protocol = NULL;
    if (protocol != NULL)
        protocol->gone(transport);
}

/* Nothing will be sent or received any more; frees the transport now, or at the end of the turn it is in. */
static void lose(struct transport *transport)
{
    transport->lost = true;
    detach_protocol(transport);
    if (!transport->in_turn)
        release(transport);
}

void transport_abort(struct transport *transport)
{
    lose(transport);
}

void transport_reset(struct transport *transport)
{
    const struct linger none = {.l_onoff = 1};
    setsockopt(h2o_socket_get_fd(transport->socket), SOL_SOCKET, SO_LINGER, &none, sizeof none);
    lose(transport);
}

void transport_watch_writing(struct transport *transport)
{
    if (transport->watching_write || transport->lost)
        return;
    transport->watching_write = true;
    h2o_socket_notify_write(transport->socket, on_writable);
}

/* ---- turns ---- */

/* Runs the lingering close: no more output, a bounded rest of input (RFC 9112, section 9.6). */
static void begin_lingering(struct transport *transport)
{
    transport->lingering = true;
    buffer_finish(&transport->stash);
    buffer_finish(&transport->pending);
    transport->pending_sent = 0;
    shutdown(h2o_socket_get_fd(transport->socket), SHUT_WR);
    transport_deadline(transport, transport->loop->now + TRANSPORT_LINGER_MS);
    watch_reading(transport, true);
}

static void watch_hang_up(struct transport *transport)
{
    transport->hang_up_watched = true;
    hangups_watch(&transport->loop->hangups, h2o_socket_get_fd(transport->socket), transport);
}

static void end_turn(struct transport *transport)
{
    output_flush(transport);
    transport->in_turn = false;
    if (transport->lost) {
        lose(transport);
        return;
    }
    if (!transport->reading && !transport->closing && !transport->hang_up_watched)
        watch_hang_up(transport);
    if (!transport->closing || transport->lingering || !transport_idle(transport))
        return;
    if (transport->linger && !transport->ended)
        begin_lingering(transport);
    else
        lose(transport);
}

static void begin_turn(struct transport *transport)
{
    transport->in_turn = true;
    transport->turn_bytes = 0;
}

void transport_flush(struct transport *transport)
{
    if (transport->in_turn)
        return;
    begin_turn(transport);
    end_turn(transport);
}

void transport_turn(struct transport *transport, void (*act)(void *arg), void *arg)
{
    begin_turn(transport);
    act(arg);
    if (transport->protocol != NULL)
        transport->protocol->writable(transport);
    end_turn(transport);
}

void transport_hang_up(struct transport *transport)
{
    loop_wake(transport->loop);
    lose(transport);
}

void transport_close(struct transport *transport, bool linger)
{
    if (transport->closing)
        return;
    transport->closing = true;
    transport->linger = linger;
    transport_deadline(transport, transport->loop->now + TRANSPORT_CLOSE_MS);
    detach_protocol(transport);
    if (transport->tls != NULL)
        tls_shutdown(transport);
    watch_reading(transport, false);
    transport_flush(transport);
}

static void on_writable(h2o_socket_t *socket, const char *error)
{
    struct transport *transport = socket->data;
    loop_wake(transport->loop);
    transport->watching_write = false;
    begin_turn(transport);
    if (error != NULL)
        transport->lost = true;
    else
        output_send_pending(transport);
    if (transport->want_writable && !transport->lost && transport_idle(transport)) {
        transport->want_writable = false;
        if (transport->protocol != NULL)
            transport->protocol->writable(transport);
    }
    end_turn(transport);
}

/* ---- input ---- */

static void update_reading(struct transport *transport)
{
    if (transport->closing || transport->lost)
        return;
    transport->paused = transport->stash.len >= TRANSPORT_STASH_LIMIT;
    watch_reading(transport, !transport->paused && !transport->ended);
}

/* The protocol sees the stash and what is new as one piece, but nothing is copied as long as it takes all. */
void transport_deliver(struct transport *transport, const char *data, size_t len)
{
    if (transport->protocol == NULL)
        return;
    if (transport->stash.len > 0) {
        buffer_append(&transport->stash, data, len);
        size_t used = transport->protocol->input(transport, transport->stash.data, transport->stash.len);
        if (used == transport->stash.len)
            buffer_finish(&transport->stash);
        else if (!transport->closing)
            buffer_consume(&transport->stash, used);
    } else {
        size_t used = transport->protocol->input(transport, data, len);
        if (used < len && !transport->closing && !transport->lost)
            buffer_append(&transport->stash, data + used, len - used);
    }
}

void transport_resume(struct transport *transport)
{
    if (transport->stash.len > 0)
        transport_deliver(transport, NULL, 0);
    if (transport->tls != NULL && !transport->closing && !transport->lost)
        tls_resume(transport);
    update_reading(transport);
}

void transport_deliver_end(struct transport *transport)
{
    if (transport->ended)
        return;
    transport->ended = true;
    watch_reading(transport, false);
    if (transport->protocol != NULL)
        transport->protocol->end_of_input(transport);
    else if (!transport->closing)
        transport->lost = true;
}

static void drain_lingering(struct transport *transport, ssize_t got)
{
    if (got > 0)
        transport->linger_bytes += (size_t)got;
    if (got <= 0 || transport->linger_bytes > TRANSPORT_LINGER_BYTES)
        transport->lost = true;
}

static void take_input(struct transport *transport, ssize_t got)
{
    const char *data = transport->loop->input;
    if (got < 0) {
        transport->lost = true;
    } else if (transport->tls != NULL) {
        if (got > 0)
            tls_receive(transport, data, (size_t)got);
        else
            tls_receive_end(transport);
    } else if (got > 0) {
        transport_deliver(transport, data, (size_t)got);
    } else {
        transport_deliver_end(transport);
    }
    update_reading(transport);
}

static void on_readable(h2o_socket_t *socket, const char *error)
{
    struct transport *transport = socket->data;
    ssize_t got;
    loop_wake(transport->loop);
    do
        got =
            error != NULL ? -1 : recv(h2o_socket_get_fd(socket), transport->loop->input, LOOP_BUFFER_SIZE, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN && error == NULL)
        return;
    begin_turn(transport);
    if (transport->closing)
        drain_lingering(transport, got);
    else
        take_input(transport, got);
    end_turn(transport);
}

/* ---- time ---- */

void transport_deadline(struct transport *transport, int64_t deadline)
{
    timers_set(&transport->loop->timers, &transport->timer, deadline);
}

void transport_no_deadline(struct transport *transport)
{
    timers_cancel(&transport->loop->timers, &transport->timer);
}

static void on_timer(struct timer *timer)
{
    struct transport *transport = list_item(timer, struct transport, timer);
    begin_turn(transport);
    if (transport->protocol != NULL)
        transport->protocol->timeout(transport);
    else
        transport->lost = true;
    end_turn(transport);
}

void transport_drain(struct transport *transport)
{
    if (transport->closing)
        return;
    begin_turn(transport);
    if (transport->protocol != NULL)
        transport->protocol->drain(transport);
    else
        transport->lost = true;
    end_turn(transport);
}
