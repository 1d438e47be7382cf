#include "process/health.h"

#include "process/address.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMEOUT_SECONDS 2 /* for each step */

/* A connected socket, or a negative errno. An address that means "everywhere" connects to this machine. */
static int connect_to(const struct address *address)
{
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    int fd = socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0 ||
        connect(fd, &address->socket.any, address->len) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

static int connect_to_any(const char *host, int port)
{
    struct address addresses[ADDRESSES_MAX];
    int fd = -EADDRNOTAVAIL;
    int count = addresses_find(host, port, addresses);
    for (int i = 0; i < count && fd < 0; i++)
        fd = connect_to(&addresses[i]);
    if (fd < 0 && count == 1 && address_is_everywhere(&addresses[0])) {
        const struct address v4 = address_everywhere_v4(port);
        fd = connect_to(&v4);
    }
    return fd;
}

/* The status line is enough; it may come in pieces. */
static int ask(int fd, bool proxied)
{
    static const char header[] = "PROXY UNKNOWN\r\n";
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200 ";
    char answer[sizeof good - 1];
    size_t len = 0;
    if (proxied && send(fd, header, sizeof header - 1, MSG_NOSIGNAL) < 0)
        return -errno;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
        return -errno;
    while (len < sizeof answer) {
        ssize_t got = recv(fd, answer + len, sizeof answer - len, 0);
        if (got < 0)
            return errno == EAGAIN ? -ETIMEDOUT : -errno;
        if (got == 0)
            return -EBADMSG;
        len += (size_t)got;
    }
    return memcmp(answer, good, len) == 0 ? 0 : -EBADMSG;
}

int health_check(const struct settings *settings)
{
    int fd = connect_to_any(settings->host, settings->ssl ? settings->ssl_port : settings->port);
    if (fd < 0)
        return fd;
    int error = settings->ssl ? 0 : ask(fd, settings->proxy_protocol);
    close(fd);
    return error;
}
