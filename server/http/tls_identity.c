#include "http/tls_identity.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/file.h"
#include "http/tls_self_signed.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#define TICKET_KEY_SIZE 80 /* a name of 16 bytes, 32 for HMAC, 32 for AES: what libssl asks for */

struct tls_identity {
    char *cert_name, *key_name; /* for people */
    struct buffer cert, key;    /* PEM */
    unsigned char ticket_key[TICKET_KEY_SIZE];
    char *warning;
    bool self_signed;
};

/* What the library has to say about its latest failure; empties its queue. */
static const char *reason_of_library(void)
{
    unsigned long error = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(error);
    ERR_clear_error();
    return reason != NULL ? reason : "unknown error";
}

/* ---- reading ---- */

static int read_file(const char *file, const char *kind, struct buffer *ret_text, char **ret_error)
{
    char *data;
    struct stat stat;
    int error = file_read(file, TLS_FILE_SIZE_MAX, &data, &stat);
    if (error != 0) {
        *ret_error =
            xsprintf("%s %s: %s", kind, file, error == -ENOTSUP ? "it is no regular file" : strerror(-error));
        return error;
    }
    *ret_text = (struct buffer){data, (size_t)stat.st_size, (size_t)stat.st_size + 1};
    if (ret_text->len > 0)
        return 0;
    *ret_error = xsprintf("%s %s: the file is empty", kind, file);
    return -EINVAL;
}

static int load_files(struct tls_identity *identity, const char *cert, const char *key, char **ret_error)
{
    if (cert == NULL || key == NULL) {
        *ret_error = xsprintf("%s %s: there is no %s to it", cert != NULL ? "certificate" : "key",
                              cert != NULL ? cert : key, cert != NULL ? "key" : "certificate");
        return -EINVAL;
    }
    identity->cert_name = xstrdup(cert);
    identity->key_name = xstrdup(key);
    int error = read_file(cert, "certificate", &identity->cert, ret_error);
    return error != 0 ? error : read_file(key, "key", &identity->key, ret_error);
}

static int make_self_signed(struct tls_identity *identity, char **ret_error)
{
    identity->self_signed = true;
    identity->cert_name = xstrdup("(self-signed)");
    identity->key_name = xstrdup("(self-signed)");
    int error = tls_self_signed(TLS_SELF_SIGNED_DAYS, &identity->cert, &identity->key);
    if (error != 0)
        *ret_error = xsprintf("making a self-signed certificate: %s", reason_of_library());
    return error;
}

/* ---- installing ---- */

static BIO *open_text(const struct buffer *text)
{
    return BIO_new_mem_buf(text->data, (int)text->len);
}

/* The next certificate of the text; NULL at its end, and on an error, which is then in the queue. */
static X509 *next_certificate(BIO *text, OSSL_LIB_CTX *library)
{
    X509 *certificate = X509_new_ex(library, NULL);
    if (certificate != NULL && PEM_read_bio_X509(text, &certificate, NULL, NULL) == NULL) {
        X509_free(certificate);
        certificate = NULL;
    }
    if (certificate == NULL && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE)
        ERR_clear_error();
    return certificate;
}

static int install_chain(const struct tls_identity *identity, SSL_CTX *ctx, OSSL_LIB_CTX *library,
                         char **ret_error)
{
    BIO *text = open_text(&identity->cert);
    size_t count = 0;
    X509 *certificate;
    bool good = text != NULL;
    while (good && (certificate = next_certificate(text, library)) != NULL) {
        good = count == 0 ? SSL_CTX_use_certificate(ctx, certificate)
                          : SSL_CTX_add1_chain_cert(ctx, certificate);
        X509_free(certificate);
        count++;
    }
    BIO_free(text);
    if (ERR_peek_last_error() != 0)
        *ret_error = xsprintf("certificate %s: %s", identity->cert_name, reason_of_library());
    else if (count == 0)
        *ret_error =
            xsprintf("certificate %s: there is no certificate in PEM form in it%s", identity->cert_name,
                     strstr(identity->cert.data, "PRIVATE KEY-----") != NULL ? ", but a key" : "");
    else
        return 0;
    return -EINVAL;
}

/* Nobody is there to type one, and the library must not ask on the terminal. */
static int no_password(char *out, int size, int writing, void *asked)
{
    (void)out;
    (void)size;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

static int install_key(const struct tls_identity *identity, SSL_CTX *ctx, OSSL_LIB_CTX *library,
                       char **ret_error)
{
    bool encrypted = false;
    char *problem = NULL;
    BIO *text = open_text(&identity->key);
    EVP_PKEY *key = PEM_read_bio_PrivateKey_ex(text, NULL, no_password, &encrypted, library, NULL);
    BIO_free(text);
    if (encrypted)
        problem = xsprintf("it is protected by a password; store it without one (openssl pkey -in %s -out "
                           "plain.pem)",
                           identity->key_name);
    else if (key == NULL)
        problem = xstrdup("there is no private key in PEM form in it");
    else if (X509_check_private_key(SSL_CTX_get0_certificate(ctx), key) != 1)
        problem = xsprintf("it does not belong to the certificate %s", identity->cert_name);
    else if (SSL_CTX_use_PrivateKey(ctx, key) != 1)
        problem = xstrdup(reason_of_library());
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (problem == NULL)
        return 0;
    *ret_error = xsprintf("key %s: %s", identity->key_name, problem);
    free(problem);
    return -EINVAL;
}

int tls_identity_install(const struct tls_identity *identity, SSL_CTX *ctx, OSSL_LIB_CTX *library,
                         char **ret_error)
{
    ERR_clear_error();
    int error = install_chain(identity, ctx, library, ret_error);
    if (error == 0)
        error = install_key(identity, ctx, library, ret_error);
    if (error == 0 && !SSL_CTX_set_tlsext_ticket_keys(ctx, (void *)identity->ticket_key, TICKET_KEY_SIZE)) {
        *ret_error = xsprintf("session tickets: %s", reason_of_library());
        error = -EINVAL;
    }
    return error;
}

/* ---- life ---- */

static void note_validity(struct tls_identity *identity, const X509 *certificate)
{
    const ASN1_TIME *first = X509_get0_notBefore(certificate), *last = X509_get0_notAfter(certificate);
    bool expired = X509_cmp_current_time(last) < 0;
    bool early = X509_cmp_current_time(first) > 0;
    struct tm when;
    char text[32];
    if ((!expired && !early) || !ASN1_TIME_to_tm(expired ? last : first, &when))
        return;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &when);
    identity->warning =
        expired ? xsprintf("certificate %s: it expired on %s", identity->cert_name, text)
                : xsprintf("certificate %s: it is not valid before %s", identity->cert_name, text);
}

/* Whatever a loop's context would refuse is found here, where it is told once. */
static int try_out(struct tls_identity *identity, char **ret_error)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int error = -ENOMEM;
    if (ctx == NULL || RAND_bytes(identity->ticket_key, TICKET_KEY_SIZE) != 1)
        *ret_error = xsprintf("TLS: %s", reason_of_library());
    else
        error = tls_identity_install(identity, ctx, NULL, ret_error);
    if (error == 0)
        note_validity(identity, SSL_CTX_get0_certificate(ctx));
    SSL_CTX_free(ctx);
    return error;
}

int tls_identity_load(const char *cert, const char *key, struct tls_identity **ret_identity, char **ret_error)
{
    struct tls_identity *identity = xzalloc(sizeof *identity);
    int error = cert == NULL && key == NULL ? make_self_signed(identity, ret_error)
                                            : load_files(identity, cert, key, ret_error);
    if (error == 0)
        error = try_out(identity, ret_error);
    if (error != 0) {
        tls_identity_destroy(identity);
        return error;
    }
    *ret_identity = identity;
    return 0;
}

void tls_identity_destroy(struct tls_identity *identity)
{
    if (identity == NULL)
        return;
    if (identity->key.data != NULL)
        OPENSSL_cleanse(identity->key.data, identity->key.capacity);
    OPENSSL_cleanse(identity->ticket_key, TICKET_KEY_SIZE);
    buffer_finish(&identity->key);
    buffer_finish(&identity->cert);
    free(identity->cert_name);
    free(identity->key_name);
    free(identity->warning);
    free(identity);
}

bool tls_identity_self_signed(const struct tls_identity *identity)
{
    return identity->self_signed;
}

const char *tls_identity_warning(const struct tls_identity *identity)
{
    return identity->warning;
}
