/* TLS on a transport, by OpenSSL. Encrypted bytes come from the transport's recv and go out through
   transport_send; the library never sees the socket. */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "http/tls_context.h"
#include "http/transport.h"

#define TLS_BACKLOG_LIMIT (256 * 1024) /* bytes that a client may make us answer without reading them */

/* Begins the handshake on a fresh transport; established(transport, h2) is called when it is done, to set
   protocol and state; h2 tells whether the client chose HTTP/2 by ALPN. What is no TLS gets a short 400 in
   clear text. 0 or -ENOMEM, and the transport is as it was. */
int tls_start(struct transport *transport, struct tls_context *context,
              void (*established)(struct transport *transport, bool h2));
void tls_destroy(struct tls *tls);

/* Called by the transport. receive: bytes from the socket. write: as transport_write. shutdown: queues
   close_notify. */
void tls_receive(struct transport *transport, const char *data, size_t len);
void tls_receive_end(struct transport *transport);
size_t tls_write(struct transport *transport, const void *data, size_t len);
char *tls_reserve(struct transport *transport, size_t size); /* at most TLS_RESERVE_SIZE */
void tls_commit(struct transport *transport, size_t size);
/* Encrypts what the writes of this turn have joined. */
void tls_flush(struct transport *transport);
void tls_shutdown(struct transport *transport);
/* The protocol consumed its stash: decrypt what was held back meanwhile. */
void tls_resume(struct transport *transport);

/* For tls_context: a BIO whose data is a struct transport that has tls. */
BIO_METHOD *tls_bio_method(void);

#endif
