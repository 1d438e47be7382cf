#include "http/transport_output.h"

#include "http/tls.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define FILE_PIECE ((size_t)256 * 1024)

size_t transport_pending(const struct transport *transport)
{
    size_t joined = transport->loop->output.owner == transport ? transport->loop->output.len : 0;
    return joined + transport->pending.len - transport->pending_sent;
}

uint64_t transport_taken(const struct transport *transport)
{
    int queued = 0;
    if (ioctl(h2o_socket_get_fd(transport->socket), SIOCOUTQ, &queued) != 0 || queued < 0)
        queued = 0;
    return (uint64_t)queued < transport->sent_bytes ? transport->sent_bytes - (uint64_t)queued : 0;
}

bool transport_idle(const struct transport *transport)
{
    return transport->pending.len == transport->pending_sent;
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
    transport->sent_bytes += (uint64_t)sent;
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
    transport_watch_writing(transport);
}

/* Sends the joined output, followed by more (if len > 0) without copying it. Returns how much of more was
   taken. */
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
        transport_watch_writing(transport);
    }
    return taken;
}

/* In pieces, so that a slow disk does not hold up the loop for long. */
int64_t transport_send_file(struct transport *transport, int fd, uint64_t offset, uint64_t len)
{
    off_t at = (off_t)offset;
    ssize_t sent;
    output_flush(transport);
    if (transport->lost)
        return (int64_t)len;
    if (!transport_has_room(transport))
        return 0;
    do
        sent = sendfile(h2o_socket_get_fd(transport->socket), fd, &at, len < FILE_PIECE ? len : FILE_PIECE);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == EAGAIN) {
        transport->want_writable = true;
        transport_watch_writing(transport);
        return 0;
    }
    if (sent <= 0)
        return sent < 0 ? -errno : -EIO;
    transport->turn_bytes += (size_t)sent;
    transport->sent_bytes += (uint64_t)sent;
    return sent;
}

bool transport_has_room(struct transport *transport)
{
    if (transport_idle(transport) && transport->turn_bytes < TRANSPORT_TURN_LIMIT)
        return true;
    transport->want_writable = true;
    transport_watch_writing(transport);
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

void output_flush(struct transport *transport)
{
    if (transport->tls != NULL && !transport->lost)
        tls_flush(transport);
    if (transport->loop->output.owner == transport)
        send_joined(transport, NULL, 0);
}

void output_send_pending(struct transport *transport)
{
    if (transport_idle(transport))
        return;
    struct iovec piece = {transport->pending.data + transport->pending_sent,
                          transport->pending.len - transport->pending_sent};
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
        transport_watch_writing(transport);
    }
}
