/* Who the server is to TLS clients: a certificate chain and its key, checked once per worker. Immutable, so
   each loop can install it in a context of its own. */
#ifndef HTTP_TLS_IDENTITY_H
#define HTTP_TLS_IDENTITY_H

#include <openssl/ssl.h>
#include <stdbool.h>

#define TLS_FILE_SIZE_MAX (1 << 20) /* bytes of a PEM file */
#define TLS_SELF_SIGNED_DAYS 397    /* the most that clients accept */

struct tls_identity;

/* cert (the leaf first, then its intermediates) and key are PEM files; both NULL: a self-signed certificate
   for localhost, made now. 0, or a negative errno and a line that tells what is wrong with which file (caller
   frees). */
int tls_identity_load(const char *cert, const char *key, struct tls_identity **ret_identity,
                      char **ret_error);
void tls_identity_destroy(struct tls_identity *identity);

bool tls_identity_self_signed(const struct tls_identity *identity); /* made here, not loaded */
/* What the operator should know although the identity works (it has expired, say); NULL: nothing. */
const char *tls_identity_warning(const struct tls_identity *identity);

/* Gives chain, key and the key of the session tickets, which all contexts of a worker share, to ctx. Library
   objects are made anew in library (NULL: the global one), so no two contexts share a lock. 0, or -EINVAL and
   its text. */
int tls_identity_install(const struct tls_identity *identity, SSL_CTX *ctx, OSSL_LIB_CTX *library,
                         char **ret_error);

#endif
