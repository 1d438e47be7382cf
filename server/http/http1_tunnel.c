#include "http/http1_tunnel.h"

#define PIECE_MAX (16 * 1024)

/* True: the connection is closing, and the tunnel gone. */
static bool send_out(struct transport *transport)
{
    struct tunnel *tunnel = transport->state;
    struct stream *out = &tunnel->out;
    while (stream_available(out) > 0 && transport_has_room(transport) && !transport->lost) {
        size_t len = stream_available(out);
        len = len < PIECE_MAX ? len : PIECE_MAX;
        char *at = transport_reserve(transport, len);
        transport_commit(transport, stream_take(out, at, len));
        stream_tell_room(out);
    }
    if (!stream_is_over(out))
        return false;
    transport_close(transport, true);
    return true;
}

static size_t input(struct transport *transport, const char *data, size_t len)
{
    struct tunnel *tunnel = transport->state;
    size_t used = tunnel->user->input(tunnel, data, len);
    return send_out(transport) ? len : used;
}

static void end_of_input(struct transport *transport)
{
    struct tunnel *tunnel = transport->state;
    if (transport->stash.len == 0)
        tunnel->user->end_of_input(tunnel);
    if (transport->protocol != NULL)
        send_out(transport);
}

static void writable(struct transport *transport)
{
    if (send_out(transport))
        return;
    transport_resume(transport);
    if (transport->protocol != NULL && transport->ended)
        end_of_input(transport);
}

static void timeout(struct transport *transport)
{
    transport_no_deadline(transport); /* what is late is for the user to see */
}

static void drain(struct transport *transport)
{
    struct tunnel *tunnel = transport->state;
    tunnel->user->drain(tunnel);
    send_out(transport);
}

static void gone(struct transport *transport)
{
    struct tunnel *tunnel = transport->state;
    tunnel->carrier = NULL;
    tunnel->user->gone(tunnel);
}

static const struct protocol protocol = {
    .input = input,
    .end_of_input = end_of_input,
    .writable = writable,
    .timeout = timeout,
    .drain = drain,
    .gone = gone,
};

static void nothing(void *arg)
{
    (void)arg;
}

static void resume(struct tunnel *tunnel)
{
    transport_turn(tunnel->below, nothing, NULL);
}

static void abort_connection(struct tunnel *tunnel)
{
    transport_reset(tunnel->below);
}

static uint64_t taken(const struct tunnel *tunnel)
{
    return transport_taken(tunnel->below);
}

static const struct tunnel_carrier carrier = {.resume = resume, .abort = abort_connection, .taken = taken};

void http1_tunnel_start(struct transport *transport, struct tunnel *tunnel)
{
    tunnel->carrier = &carrier;
    tunnel->below = transport;
    transport->state = tunnel;
    transport->protocol = &protocol;
    transport_no_deadline(transport);
}
