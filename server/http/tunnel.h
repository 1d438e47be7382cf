/* Bytes both ways where HTTP has ended: a connection after its 101, or an HTTP/2 stream that a CONNECT has
   opened (RFC 8441). Its user sits above and never sees which of them carries it. All on the loop. */
#ifndef HTTP_TUNNEL_H
#define HTTP_TUNNEL_H

#include "http/stream.h"

struct tunnel;

struct tunnel_user {
    /* Returns how many bytes it has taken; the others are shown again with what comes next, or at resume. May
       add to out, and end it. */
    size_t (*input)(struct tunnel *tunnel, const char *data, size_t len);
    /* The client will send no more, and all it has sent was taken. */
    void (*end_of_input)(struct tunnel *tunnel);
    /* The worker stops. */
    void (*drain)(struct tunnel *tunnel);
    /* The carrier has let go of the tunnel: out has left or is lost. */
    void (*gone)(struct tunnel *tunnel);
};

struct tunnel_carrier {
    /* There is more in out, or its end; or more input can be taken. Not from within input. */
    void (*resume)(struct tunnel *tunnel);
    /* Drops the client; calls gone before it returns, or soon. */
    void (*abort)(struct tunnel *tunnel);
    /* Grows as long as the client takes something. */
    uint64_t (*taken)(const struct tunnel *tunnel);
};

struct tunnel {
    struct stream out;
    const struct tunnel_user *user;
    const struct tunnel_carrier *carrier; /* NULL before it has begun and once it is gone */
    void *below;                          /* the carrier's */
};

#endif
