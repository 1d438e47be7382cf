/* HTTP/2 on a transport (RFC 9113), framed by nghttp2. */
#ifndef HTTP_HTTP2_H
#define HTTP_HTTP2_H

#include "http/transport.h"

#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" /* a client's first bytes */

void http2_start(struct transport *transport);

#endif
