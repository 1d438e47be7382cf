/* An inherited listening socket, from which one loop accepts. */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include "http/tls.h"
#include "http/worker.h"

#define LISTENER_BATCH 64     /* connections accepted per turn */
#define LISTENER_PAUSE_MS 100 /* without accepting, when descriptors or connections have run out */
/* Bytes that the kernel holds for a connection beyond what it can send: without a bound it copies megabytes
   for a client that does not read. */
#define LISTENER_UNSENT_MAX (256 * 1024)

struct listener {
    struct loop *loop;
    h2o_socket_t *socket;
    enum listener_kind kind;
    struct tls_context *tls; /* of its loop; for LISTENER_TLS */
    struct timer pause;
};

/* Takes over the descriptor. The listener must stay where it is until listener_finish. */
void listener_init(struct listener *listener, struct loop *loop, const struct listener_socket *socket,
                   struct tls_context *tls);
/* Stops accepting. What waits in the queue stays there for whoever else holds the socket. */
void listener_finish(struct listener *listener);

#endif
