#include "process/banner.h"

#include "base/buffer.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

/* Of the first interface that others can reach. */
static bool find_own_address(struct address *ret)
{
    struct ifaddrs *list;
    bool found = false;
    if (getifaddrs(&list) < 0)
        return false;
    for (const struct ifaddrs *one = list; one != NULL && !found; one = one->ifa_next) {
        bool usable = (one->ifa_flags & IFF_UP) && !(one->ifa_flags & IFF_LOOPBACK);
        if (!usable || one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET)
            continue;
        *ret = (struct address){.len = sizeof(struct sockaddr_in)};
        memcpy(&ret->socket.v4, one->ifa_addr, sizeof ret->socket.v4);
        found = true;
    }
    freeifaddrs(list);
    return found;
}

static void listening(struct buffer *text, const struct endpoint *endpoint)
{
    const char *scheme = endpoint->kind == LISTENER_TLS ? "https" : "http";
    const int port = address_port(&endpoint->address);
    char host[ADDRESS_TEXT_SIZE];
    struct address own;
    if (!address_is_everywhere(&endpoint->address)) {
        address_text(&endpoint->address, false, host);
        buffer_printf(text, "Listening on %s://%s:%d\n", scheme, host, port);
        return;
    }
    buffer_printf(text, "Listening on %s://localhost:%d\n", scheme, port);
    if (find_own_address(&own)) {
        address_text(&own, false, host);
        buffer_printf(text, "Listening on %s://%s:%d\n", scheme, host, port);
    }
}

char *banner_text(const struct settings *settings, const struct sockets *sockets, const char *serving)
{
    struct buffer text = {.data = NULL};
    buffer_text(&text, "cloudgate " CLOUDGATE_VERSION "\n");
    buffer_printf(&text, "  root     %s\n", settings->root);
    buffer_printf(&text, "  threads  %d\n", settings->threads);
    if (serving[0] != '\0')
        buffer_printf(&text, "  serving  %s\n", serving);
    if (sockets_port(sockets, LISTENER_REDIRECT) != 0)
        buffer_printf(&text, "  http     redirects to https\n");
    for (size_t i = 0; i < sockets->endpoint_count; i++)
        listening(&text, &sockets->endpoints[i]);
    return buffer_detach(&text);
}
