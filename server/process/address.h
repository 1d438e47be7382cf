/* Where to listen: the addresses that a HOST setting means. */
#ifndef PROCESS_ADDRESS_H
#define PROCESS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define ADDRESSES_MAX 16     /* a name with more of them is cut there */
#define ADDRESS_TEXT_SIZE 80 /* "[fe80::1%interface]:65535" and its NUL */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } socket;
    socklen_t len;
};

/* Looks up host (a name, an IPv4 or IPv6 literal, the latter with brackets or without; NULL or empty: every
   address of the machine) for port. Each address once. Returns how many there are, or a negative EAI_*
   code. */
int addresses_find(const char *host, int port, struct address ret_addresses[ADDRESSES_MAX]);

/* Every address of this machine: IPv6, with sockets that serve IPv4 as well, or IPv4 alone where the kernel
   has no IPv6. */
struct address address_everywhere_v6(int port);
struct address address_everywhere_v4(int port);

bool address_equal(const struct address *a, const struct address *b);
bool address_is_everywhere(const struct address *address);
int address_port(const struct address *address);
void address_set_port(struct address *address, int port);

/* As it stands in a URL: "127.0.0.1" or "[::1]"; with the port if that is asked for. */
void address_text(const struct address *address, bool with_port, char ret_text[ADDRESS_TEXT_SIZE]);

#endif
