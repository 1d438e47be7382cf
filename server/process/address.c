#include "process/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

struct address address_everywhere_v6(int port)
{
    struct address address = {.len = sizeof(struct sockaddr_in6)};
    address.socket.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    address_set_port(&address, port);
    return address;
}

struct address address_everywhere_v4(int port)
{
    struct address address = {.len = sizeof(struct sockaddr_in)};
    address.socket.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    address_set_port(&address, port);
    return address;
}

static bool contains(const struct address *addresses, int count, const struct address *one)
{
    for (int i = 0; i < count; i++) {
        if (address_equal(&addresses[i], one))
            return true;
    }
    return false;
}

/* hosts files like to give the same address twice; bound twice, it would look like somebody else's. */
static int take_each_once(const struct addrinfo *list, int port, struct address *addresses)
{
    int count = 0;
    for (const struct addrinfo *info = list; info != NULL && count < ADDRESSES_MAX; info = info->ai_next) {
        struct address one = {.len = info->ai_addrlen};
        if ((info->ai_family != AF_INET && info->ai_family != AF_INET6) || one.len > sizeof one.socket)
            continue;
        memcpy(&one.socket, info->ai_addr, one.len);
        address_set_port(&one, port);
        if (!contains(addresses, count, &one))
            addresses[count++] = one;
    }
    return count > 0 ? count : EAI_NONAME;
}

int addresses_find(const char *host, int port, struct address ret_addresses[ADDRESSES_MAX])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP};
    struct addrinfo *list;
    char bare[256];
    if (host == NULL || host[0] == '\0') {
        ret_addresses[0] = address_everywhere_v6(port);
        return 1;
    }
    size_t len = strlen(host);
    if (host[0] == '[' && host[len - 1] == ']' && len - 2 < sizeof bare) {
        snprintf(bare, sizeof bare, "%.*s", (int)(len - 2), host + 1);
        host = bare;
    }
    int error = getaddrinfo(host, NULL, &hints, &list);
    if (error != 0)
        return error;
    int count = take_each_once(list, port, ret_addresses);
    freeaddrinfo(list);
    return count;
}

bool address_equal(const struct address *a, const struct address *b)
{
    if (a->socket.any.sa_family != b->socket.any.sa_family || address_port(a) != address_port(b))
        return false;
    if (a->socket.any.sa_family == AF_INET)
        return a->socket.v4.sin_addr.s_addr == b->socket.v4.sin_addr.s_addr;
    return memcmp(&a->socket.v6.sin6_addr, &b->socket.v6.sin6_addr, sizeof(struct in6_addr)) == 0 &&
           a->socket.v6.sin6_scope_id == b->socket.v6.sin6_scope_id;
}

bool address_is_everywhere(const struct address *address)
{
    if (address->socket.any.sa_family == AF_INET)
        return address->socket.v4.sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&address->socket.v6.sin6_addr);
}

/* Both families have the port at the same place. */
int address_port(const struct address *address)
{
    return ntohs(address->socket.v4.sin_port);
}

void address_set_port(struct address *address, int port)
{
    address->socket.v4.sin_port = htons((uint16_t)port);
}

void address_text(const struct address *address, bool with_port, char ret_text[ADDRESS_TEXT_SIZE])
{
    char host[ADDRESS_TEXT_SIZE - 8]; /* leaves room for the brackets and the port */
    bool v6 = address->socket.any.sa_family == AF_INET6;
    if (getnameinfo(&address->socket.any, address->len, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(host, sizeof host, "?");
    int len = snprintf(ret_text, ADDRESS_TEXT_SIZE, v6 ? "[%s]" : "%s", host);
    if (with_port)
        snprintf(ret_text + len, ADDRESS_TEXT_SIZE - (size_t)len, ":%d", address_port(address));
}
