/* A connection that was HTTP/1.1 until it was upgraded (RFC 9110, section 7.8). */
#ifndef HTTP_HTTP1_TUNNEL_H
#define HTTP_HTTP1_TUNNEL_H

#include "http/transport.h"
#include "http/tunnel.h"

/* Within a turn, in the place of the protocol before; what that one had not taken is to be shown again. */
void http1_tunnel_start(struct transport *transport, struct tunnel *tunnel);

#endif
