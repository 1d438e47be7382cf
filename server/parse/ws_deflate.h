/* The offer of permessage-deflate in Sec-WebSocket-Extensions (RFC 7692, section 7). */
#ifndef PARSE_WS_DEFLATE_H
#define PARSE_WS_DEFLATE_H

#include <cloudgate.h>
#include <stdbool.h>

#define WS_DEFLATE_BITS_MIN 9 /* of a window; what zlib can do, one less than is allowed */
#define WS_DEFLATE_BITS_MAX 15

struct ws_deflate {
    int bits;        /* of the window of what we send */
    bool bits_asked; /* the client wants to be told */
};

/* The first offer in one field's list that can be met; others, and unknown extensions, are passed over.
   False: there is none. Whatever is offered, neither side keeps its window from one message to the next, and
   the answer has to say so. */
bool ws_deflate_accept(cg_str offers, struct ws_deflate *ret_deflate);

#endif
