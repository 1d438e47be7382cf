/* Connections that a balancer forwards: they begin with a PROXY header, which tells who the client is. */
#ifndef HTTP_PROXIED_H
#define HTTP_PROXIED_H

#include "http/tls_context.h"
#include "http/transport.h"

/* On a fresh transport: once the header is there, goes on with what comes behind it, by way of begin. One
   that is none, or does not come within HEADER_TIMEOUT, ends the connection. */
void proxied_start(struct transport *transport, struct tls_context *tls,
                   void (*begin)(struct transport *transport, struct tls_context *tls));

#endif
