/* The offer of permessage-deflate in Sec-WebSocket-Extensions (RFC 7692, section 7). */
#ifndef PARSE_WS_DEFLATE_H
#define PARSE_WS_DEFLATE_H

#include <cloudgate.h>
#include <stdbool.h>

#define WS_DEFLATE_BITS_MIN 9 /* of a window; what zlib can do, one less than is allowed */
#define WS_DEFLATE_BITS_MAX 15

struct ws_deflate {
    int bits;          /* of the window of what we send, at most */
    bool bits_asked;   /* the client wants to be told */
    int client_bits;   /* of what the client sends, at most; 0: it can't be told to have less */
    bool server_keeps; /* our window may live on from one message to the next */
    bool client_keeps; /* theirs will, unless they are told not to */
};

/* The first offer in one field's list that can be met; others, and unknown extensions, are passed over.
   False: there is none. */
bool ws_deflate_accept(cg_str offers, struct ws_deflate *ret_deflate);

#endif
