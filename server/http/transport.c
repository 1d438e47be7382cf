#include "http/transport.h"

#include "base/alloc.h"
#include "http/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void on_readable(h2o_socket_t *socket, const char *error);
static void on_writable(h2o_socket_t *socket, const char *error);
static void on_timer(struct timer *timer);

static void set_peer(struct transport *transport, const struct sockaddr *peer)
{
    if (peer->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)peer;
        inet_ntop(AF_INET, &in->sin_addr, transport->ip, sizeof transport->ip);
        transport->peer_port = ntohs(in->sin_port);
    } else if (peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)peer;
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
            inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], transport->ip, sizeof transport->ip);
        else
            inet_ntop(AF_INET6, &in6->sin6_addr, transport->ip, sizeof transport->ip);
        transport->peer_port = ntohs(in6->sin6_port);
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

/* ---- output ---- */

size_t transport_pending(const struct transport *transport)
{
    size_t joined = transport->loop->output.owner == transport ? transport->loop->output.len : 0;
    return joined + transport->pending.len - transport->pending_sent;
}

bool transport_idle(const struct transport *transport)
{
    return transport->pending.len == transport->pending_sent;
}

static void watch_writing(struct transport *transport)
{
    if (transport->watching_write || transport->lost)
        return;
    transport->watching_write = true;
    h2o_socket_notify_write(transport->socket, on_writable);
}

/* What the socket takes of the given pieces: bytes, 0 when it is full, -1 when the connection is lost. */
static ssize_t send_some(struct transport *transport, struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t sent;
    do {
        int fd = h2o_socket_get_fd(transport->socket);
        sent = count == 1 ? send(fd, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL)
                          : sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno == EAGAIN || errno == ENOBUFS ? 0 : -1;
    transport->turn_bytes += (size_t)sent;
    return sent;
}

static size_t send_joined(struct transport *transport, const char *more, size_t len);

/* The loop's buffer is for the connection that has its turn; another one's bytes leave first. */
static void own_output(struct transport *transport)
{
    struct loop *loop = transport->loop;
    if (loop->output.owner == transport)
        return;
    if (loop->output.owner != NULL)
        send_joined(loop->output.owner, NULL, 0);
    loop->output.owner = transport;
    loop->output.len = 0;
}

static void keep(struct transport *transport, const char *data, size_t len)
{
    if (len == 0)
        return;
    buffer_append(&transport->pending, data, len);
    watch_writing(transport);
}

/* Sends the joined output, followed by more (if len > 0) without copying it. Returns how much of more was
 * taken. */
static size_t send_joined(struct transport *transport, const char *more, size_t len)
{
    struct loop *loop = transport->loop;
    size_t joined = loop->output.owner == transport ? loop->output.len : 0;
    struct iovec pieces[2] = {{loop->output.data, joined}, {(void *)more, len}};
    if (joined + len == 0)
        return 0;
    ssize_t sent =
        joined == 0 ? send_some(transport, pieces + 1, 1) : send_some(transport, pieces, len == 0 ? 1 : 2);
    if (loop->output.owner == transport) {
        loop->output.len = 0;
        loop->output.owner = NULL;
    }
    if (sent < 0) {
        transport->closing = transport->lost = true; /* told to the protocol at the end of the turn */
        return len;
    }
    if ((size_t)sent < joined) {
        keep(transport, loop->output.data + sent, joined - (size_t)sent);
        return 0;
    }
    return (size_t)sent - joined;
}

void transport_send(struct transport *transport, const void *data, size_t len)
{
    struct loop *loop = transport->loop;
    if (transport->lost)
        return;
    if (transport_idle(transport)) {
        own_output(transport);
        if (loop->output.len + len > LOOP_BUFFER_SIZE)
            send_joined(transport, NULL, 0);
    }
    if (!transport_idle(transport) || len > LOOP_BUFFER_SIZE) {
        keep(transport, data, len);
        return;
    }
    own_output(transport);
    memcpy(loop->output.data + loop->output.len, data, len);
    loop->output.len += len;
}

static size_t write_plain(struct transport *transport, const char *data, size_t len)
{
    if (!transport_idle(transport)) {
        size_t waiting = transport->pending.len - transport->pending_sent;
        size_t room = waiting < TRANSPORT_PENDING_LIMIT ? TRANSPORT_PENDING_LIMIT - waiting : 0;
        size_t taken = len < room ? len : room;
        keep(transport, data, taken);
        return taken;
    }
    if (len < TRANSPORT_GATHER_SIZE) {
        transport_send(transport, data, len);
        return len;
    }
    own_output(transport);
    if (transport->turn_bytes >= TRANSPORT_TURN_LIMIT)
        return 0;
    size_t most = TRANSPORT_TURN_LIMIT - transport->turn_bytes;
    return send_joined(transport, data, len < most ? len : most);
}

size_t transport_write(struct transport *transport, const void *data, size_t len)
{
    if (transport->lost || len == 0)
        return len;
    size_t taken =
        transport->tls != NULL ? tls_write(transport, data, len) : write_plain(transport, data, len);
    if (taken < len) {
        transport->want_writable = true;
        watch_writing(transport);
    }
    return taken;
}

bool transport_has_room(struct transport *transport)
{
    if (transport_idle(transport) && transport->turn_bytes < TRANSPORT_TURN_LIMIT)
        return true;
    transport->want_writable = true;
    watch_writing(transport);
    return false;
}

char *transport_reserve(struct transport *transport, size_t size)
{
    struct loop *loop = transport->loop;
    if (transport->tls != NULL)
        return tls_reserve(transport, size);
    if (transport_idle(transport)) {
        own_output(transport);
        if (loop->output.len + size > LOOP_BUFFER_SIZE)
            send_joined(transport, NULL, 0);
    }
    if (transport->lost || transport_idle(transport)) {
        own_output(transport);
        return loop->output.data + loop->output.len;
    }
    buffer_reserve(&transport->pending, size);
    return transport->pending.data + transport->pending.len;
}

void transport_commit(struct transport *transport, size_t size)
{
    if (transport->tls != NULL)
        tls_commit(transport, size);
    else if (transport->lost)
        transport->loop->output.len = 0;
    else if (transport_idle(transport))
        transport->loop->output.len += size;
    else
        transport->pending.len += size;
}

static void flush(struct transport *transport)
{
    if (transport->tls != NULL && !transport->lost)
        tls_flush(transport);
    if (transport->loop->output.owner == transport)
        send_joined(transport, NULL, 0);
}

/* ---- turns ---- */

/* Runs the lingering close: no more output, a bounded rest of input (RFC 9112, section 9.6). */
static void begin_lingering(struct transport *transport)
{
    transport->linger = true;
    buffer_finish(&transport->stash);
    buffer_finish(&transport->pending);
    transport->pending_sent = 0;
    shutdown(h2o_socket_get_fd(transport->socket), SHUT_WR);
    transport_deadline(transport, transport->loop->now + TRANSPORT_LINGER_MS);
    watch_reading(transport, true);
}

static void end_turn(struct transport *transport)
{
    flush(transport);
    transport->in_turn = false;
    if (transport->lost) {
        lose(transport);
        return;
    }
    if (!transport->closing || !transport_idle(transport))
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

static void send_pending(struct transport *transport)
{
    size_t left = transport->pending.len - transport->pending_sent;
    struct iovec piece = {transport->pending.data + transport->pending_sent, left};
    if (left == 0)
        return;
    ssize_t sent = send_some(transport, &piece, 1);
    if (sent < 0) {
        transport->lost = true;
        return;
    }
    transport->pending_sent += (size_t)sent;
    if (transport_idle(transport)) {
        buffer_finish(&transport->pending);
        transport->pending_sent = 0;
    } else {
        watch_writing(transport);
    }
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
        send_pending(transport);
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
