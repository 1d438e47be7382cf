/* What the TLS connections of one loop have in common. Each loop has a library context of its own, because
   handshakes take locks on the global one. */
#ifndef HTTP_TLS_CONTEXT_H
#define HTTP_TLS_CONTEXT_H

#include "http/tls_identity.h"

#include <stddef.h>

#define TLS_RECORD_SIZE (16 * 1024)  /* bytes of plaintext in a record */
#define TLS_RESERVE_SIZE (48 * 1024) /* the most that is written in place */
#define TLS_JOIN_SIZE (TLS_RECORD_SIZE + TLS_RESERVE_SIZE)

struct transport;

struct tls_context {
    OSSL_LIB_CTX *library;
    SSL_CTX *ssl;
    BIO_METHOD *bio; /* tls.c's */
    struct {         /* what the connection that has its turn writes: joined here to few records */
        struct transport *owner;
        size_t len;
        char *data; /* TLS_JOIN_SIZE */
    } join;
};

/* NULL, and the reason (caller frees). */
struct tls_context *tls_context_create(const struct tls_identity *identity, char **ret_error);
void tls_context_destroy(struct tls_context *context); /* once its connections are gone */

#endif
