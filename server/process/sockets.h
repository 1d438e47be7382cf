/* The listening sockets: one for each loop and address, made once by the supervisor, so that no restart of a
   worker ever refuses a connection. */
#ifndef PROCESS_SOCKETS_H
#define PROCESS_SOCKETS_H

#include "config/settings.h"
#include "http/worker.h"
#include "process/address.h"

/* What clients can connect to. */
struct endpoint {
    struct address address; /* with the port as bound */
    enum listener_kind kind;
};

/* A zeroed one is empty and valid. */
struct sockets {
    struct listener_socket *items; /* close-on-exec, non-blocking */
    size_t count;
    struct endpoint *endpoints;
    size_t endpoint_count;
};

/* Opens what host, port, ssl, ssl_port and threads ask for. A port that somebody else listens on is refused,
   even where the kernel would share it out. A negative errno and, for the operator, ret_error (caller frees),
   which names the address and who holds it; nothing stays open then. */
int sockets_open(struct sockets *sockets, const struct settings *settings, char **ret_error);
void sockets_close(struct sockets *sockets);

/* The bound port of the first endpoint of that kind, or 0. */
int sockets_port(const struct sockets *sockets, enum listener_kind kind);

#endif
