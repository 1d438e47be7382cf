#include "http/tls_context.h"

#include "base/alloc.h"
#include "http/tls.h"

#include <openssl/err.h>
#include <stdlib.h>

/* RFC 9113, 9.2.2, allows nothing less for HTTP/2; TLS 1.3 has its own list, which is fine as it is. */
#define CIPHERS_OF_1_2 "ECDHE+AESGCM:ECDHE+CHACHA20"
#define GROUPS "X25519:P-256:P-384"

static const unsigned char protocols[] = "\x02h2\x08http/1.1";

/* A client that offers neither goes on without: it may speak HTTP/1.1 all the same. */
static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                           const unsigned char *offered, unsigned offered_len, void *arg)
{
    unsigned char *chosen;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, ret_len, protocols, sizeof protocols - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *ret = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static bool configure(SSL_CTX *ctx)
{
    SSL_CTX_set_security_level(ctx, 2);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* tickets need no memory here */
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) &&
           SSL_CTX_set_cipher_list(ctx, CIPHERS_OF_1_2) && SSL_CTX_set1_groups_list(ctx, GROUPS);
}

struct tls_context *tls_context_create(const struct tls_identity *identity, char **ret_error)
{
    struct tls_context *context = xzalloc(sizeof *context);
    context->join.data = xalloc(TLS_JOIN_SIZE);
    context->bio = tls_bio_method();
    context->library = OSSL_LIB_CTX_new();
    if (context->library != NULL)
        context->ssl = SSL_CTX_new_ex(context->library, NULL, TLS_server_method());
    if (context->bio == NULL || context->ssl == NULL || !configure(context->ssl)) {
        const char *reason = ERR_reason_error_string(ERR_peek_last_error());
        *ret_error = xsprintf("TLS: %s", reason != NULL ? reason : "out of memory");
        ERR_clear_error();
    } else if (tls_identity_install(identity, context->ssl, context->library, ret_error) == 0) {
        return context;
    }
    tls_context_destroy(context);
    return NULL;
}

void tls_context_destroy(struct tls_context *context)
{
    if (context == NULL)
        return;
    SSL_CTX_free(context->ssl);
    OSSL_LIB_CTX_free(context->library);
    BIO_meth_free(context->bio);
    free(context->join.data);
    free(context);
}
