/* HTTP/1.1 and 1.0 on a transport (RFC 9112). One request at a time: the next one is read when the answer to
   the one before has been handed to the transport. */
#ifndef HTTP_HTTP1_H
#define HTTP_HTTP1_H

#include "http/transport.h"

void http1_start(struct transport *transport);
/* The same, answering everything with a redirect to https on that port (443: not written). */
void http1_start_redirect(struct transport *transport);

#endif
