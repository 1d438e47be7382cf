#include "process/sockets.h"

#include "base/alloc.h"
#include "process/port_owner.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 4096          /* the kernel lowers it to net.core.somaxconn */
#define FREE_PORT_ATTEMPTS 16 /* for one that is free at all addresses of a name */

static int enable(int fd, int level, int option)
{
    const int on = 1;
    return setsockopt(fd, level, option, &on, sizeof on) < 0 ? -errno : 0;
}

/* Accepted sockets inherit TCP_NODELAY, which saves a system call for each connection. SO_REUSEADDR lets us
   bind while connections of an earlier run are in TIME_WAIT; a socket that listens is in the way all the
   same. */
static int set_options(int fd, const struct address *address, bool shared)
{
    int error = enable(fd, SOL_SOCKET, SO_REUSEADDR);
    if (error == 0 && shared)
        error = enable(fd, SOL_SOCKET, SO_REUSEPORT);
    if (error == 0)
        error = enable(fd, IPPROTO_TCP, TCP_NODELAY);
    if (error == 0 && address->socket.any.sa_family == AF_INET6) {
        const int only = !address_is_everywhere(address);
        if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) < 0)
            error = -errno;
    }
    return error;
}

/* A bound and listening socket, or a negative errno. */
static int listen_at(const struct address *address, bool shared)
{
    int fd = socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = set_options(fd, address, shared);
    if (error == 0 && (bind(fd, &address->socket.any, address->len) < 0 || listen(fd, BACKLOG) < 0))
        error = -errno;
    if (error < 0) {
        close(fd);
        return error;
    }
    return fd;
}

/* Like listen_at, but proves that nobody else listens there: without SO_REUSEPORT the kernel lets only one
   socket listen. It looks at the option of the sockets that are bound already, so setting it afterwards opens
   the port to our other sockets (and, by the kernel's rule, to those of our user) with no moment in between
   at which the port is free. */
static int listen_alone_at(struct address *address)
{
    int fd = listen_at(address, false);
    if (fd < 0)
        return fd;
    int error = enable(fd, SOL_SOCKET, SO_REUSEPORT);
    if (error == 0 && getsockname(fd, &address->socket.any, &address->len) < 0)
        error = -errno;
    if (error < 0) {
        close(fd);
        return error;
    }
    return fd;
}

static void add_socket(struct sockets *sockets, int fd, unsigned loop, enum listener_kind kind)
{
    sockets->items = xrealloc(sockets->items, (sockets->count + 1) * sizeof *sockets->items);
    sockets->items[sockets->count++] = (struct listener_socket){.fd = fd, .loop = loop, .kind = kind};
}

static void add_endpoint(struct sockets *sockets, const struct address *address, enum listener_kind kind)
{
    size_t size = (sockets->endpoint_count + 1) * sizeof *sockets->endpoints;
    sockets->endpoints = xrealloc(sockets->endpoints, size);
    sockets->endpoints[sockets->endpoint_count++] = (struct endpoint){.address = *address, .kind = kind};
}

static void drop_sockets_from(struct sockets *sockets, size_t count, size_t endpoint_count)
{
    while (sockets->count > count)
        close(sockets->items[--sockets->count].fd);
    sockets->endpoint_count = endpoint_count;
}

static int open_at(struct sockets *sockets, struct address *address, enum listener_kind kind, int loops)
{
    int fd = listen_alone_at(address);
    for (unsigned loop = 0; fd >= 0; loop++) {
        add_socket(sockets, fd, loop, kind);
        if (loop + 1 >= (unsigned)loops) {
            add_endpoint(sockets, address, kind);
            return 0;
        }
        fd = listen_at(address, true);
    }
    return fd;
}

/* A name that has several addresses gets the same port at all of them. Opens all, or none and names the one
   that failed. */
static int open_at_all(struct sockets *sockets, struct address *addresses, int count, enum listener_kind kind,
                       int port, int loops, struct address **ret_failed)
{
    const size_t sockets_before = sockets->count, endpoints_before = sockets->endpoint_count;
    for (int i = 0; i < count; i++) {
        address_set_port(&addresses[i], i == 0 ? port : address_port(&addresses[0]));
        int error = open_at(sockets, &addresses[i], kind, loops);
        if (error < 0) {
            drop_sockets_from(sockets, sockets_before, endpoints_before);
            *ret_failed = &addresses[i];
            return error;
        }
    }
    return 0;
}

static char *explain(int error, const struct address *address)
{
    char text[ADDRESS_TEXT_SIZE];
    int port = address_port(address);
    address_text(address, true, text);
    if (error == -EADDRINUSE) {
        char *owner = port_owner(address);
        char *line = xsprintf("cannot listen on %s: port %d is in use by %s", text, port, owner);
        free(owner);
        return line;
    }
    if (error == -EACCES)
        return xsprintf("cannot listen on %s: port %d needs a privilege (root, or the capability "
                        "CAP_NET_BIND_SERVICE); ports from 1024 on need none",
                        text, port);
    if (error == -EADDRNOTAVAIL)
        return xsprintf("cannot listen on %s: this machine does not have that address", text);
    return xsprintf("cannot listen on %s: %s", text, strerror(-error));
}

/* Opens one service at every address that host means. */
static int open_service(struct sockets *sockets, const struct settings *settings, enum listener_kind kind,
                        int port, char **ret_error)
{
    struct address addresses[ADDRESSES_MAX], *failed = addresses;
    bool everywhere = settings->host == NULL || settings->host[0] == '\0';
    int count = addresses_find(settings->host, port, addresses);
    if (count < 0) {
        *ret_error = xsprintf("cannot listen on '%s': %s", settings->host, gai_strerror(count));
        return -EADDRNOTAVAIL;
    }
    int error = open_at_all(sockets, addresses, count, kind, port, settings->threads, &failed);
    if (everywhere && (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL)) { /* no IPv6 here */
        addresses[0] = address_everywhere_v4(port);
        error = open_at_all(sockets, addresses, count, kind, port, settings->threads, &failed);
    }
    for (int attempt = 1; port == 0 && error == -EADDRINUSE && attempt < FREE_PORT_ATTEMPTS; attempt++)
        error = open_at_all(sockets, addresses, count, kind, port, settings->threads, &failed);
    if (error < 0)
        *ret_error = explain(error, failed);
    return error;
}

int sockets_open(struct sockets *sockets, const struct settings *settings, char **ret_error)
{
    int error = 0;
    *sockets = (struct sockets){.items = NULL};
    if (settings->ssl)
        error = open_service(sockets, settings, LISTENER_TLS, settings->ssl_port, ret_error);
    if (error == 0 && settings->port >= 0)
        error = open_service(sockets, settings, settings->ssl ? LISTENER_REDIRECT : LISTENER_PLAIN,
                             settings->port, ret_error);
    if (error < 0)
        sockets_close(sockets);
    return error;
}

void sockets_close(struct sockets *sockets)
{
    drop_sockets_from(sockets, 0, 0);
    free(sockets->items);
    free(sockets->endpoints);
    *sockets = (struct sockets){.items = NULL};
}

int sockets_port(const struct sockets *sockets, enum listener_kind kind)
{
    for (size_t i = 0; i < sockets->endpoint_count; i++) {
        if (sockets->endpoints[i].kind == kind)
            return address_port(&sockets->endpoints[i].address);
    }
    return 0;
}
