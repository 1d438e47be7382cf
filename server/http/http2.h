/* HTTP/2 on a transport (RFC 9113), framed by nghttp2. */
#ifndef HTTP_HTTP2_H
#define HTTP_HTTP2_H

#include "http/transport.h"

void http2_start(struct transport *transport);

#endif
