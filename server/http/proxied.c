#include "http/proxied.h"

#include "base/alloc.h"
#include "base/log.h"
#include "http/app.h"
#include "http/tls.h"
#include "parse/proxy.h"

#include <stdlib.h>
#include <string.h>

struct proxied {
    struct tls_context *tls;
    void (*begin)(struct transport *transport, struct tls_context *tls);
    size_t len;
    char head[PROXY_HEADER_MAX];
};

static void gone(struct transport *transport)
{
    free(transport->state);
}

static void refuse(struct transport *transport, const char *what)
{
    static _Thread_local int64_t told;
    if (log_is_due(&told, transport->loop->now))
        log_warning("%s: a connection without a PROXY header (%s), which PROXY_PROTOCOL asks for; closed",
                    transport->ip, what);
    transport_abort(transport);
}

/* The rest is the client's; what of it is taken now. */
static size_t go_on(struct transport *transport, const struct proxy_header *header, const char *rest,
                    size_t len)
{
    struct proxied *proxied = transport->state;
    struct tls_context *tls = proxied->tls;
    void (*begin)(struct transport * transport, struct tls_context * tls) = proxied->begin;
    if (header->known)
        memcpy(transport->ip, header->ip, sizeof transport->ip);
    transport->protocol = NULL;
    transport->state = NULL;
    free(proxied);
    begin(transport, tls);
    if (transport->lost || len == 0)
        return len;
    if (transport->tls == NULL)
        return transport->protocol->input(transport, rest, len);
    tls_receive(transport, rest, len);
    return len;
}

/* The header is kept here and not in the transport's stash, which is for what comes behind it. */
static size_t input(struct transport *transport, const char *data, size_t len)
{
    struct proxied *proxied = transport->state;
    const size_t before = proxied->len, room = sizeof proxied->head - before;
    const size_t more = len < room ? len : room;
    struct proxy_header header;
    memcpy(proxied->head + before, data, more);
    proxied->len += more;
    int result = proxy_parse(proxied->head, proxied->len, &header);
    if (result < 0)
        refuse(transport, "something else came");
    if (result <= 0)
        return len;
    const size_t used = header.size - before;
    return used + go_on(transport, &header, data + used, len - used);
}

static void end_of_input(struct transport *transport)
{
    transport_abort(transport);
}

static void timeout(struct transport *transport)
{
    refuse(transport, "none came");
}

static void nothing(struct transport *transport)
{
    (void)transport;
}

static const struct protocol protocol = {
    .input = input,
    .end_of_input = end_of_input,
    .writable = nothing,
    .timeout = timeout,
    .drain = end_of_input,
    .gone = gone,
};

void proxied_start(struct transport *transport, struct tls_context *tls,
                   void (*begin)(struct transport *transport, struct tls_context *tls))
{
    struct proxied *proxied = xzalloc(sizeof *proxied);
    proxied->tls = tls;
    proxied->begin = begin;
    transport->state = proxied;
    transport->protocol = &protocol;
    transport_deadline(transport, transport->loop->now + transport->loop->app->settings->header_timeout);
}
