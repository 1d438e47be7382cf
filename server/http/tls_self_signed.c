#include "http/tls_self_signed.h"

#include <errno.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

#define SERIAL_BITS 127   /* positive, and no more than the 20 bytes of RFC 5280, 4.1.2.2 */
#define CLOCK_SKEW_S 3600 /* a client's clock may be that much behind */
#define SECONDS_A_DAY 86400

/* Random, because browsers refuse a second certificate with the same issuer and serial number. */
static bool set_serial(X509 *certificate)
{
    BIGNUM *number = BN_new();
    bool good = number != NULL && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
                BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return good;
}

static bool add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool good = extension != NULL && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return good;
}

static bool fill_in(X509 *certificate, EVP_PKEY *key, int days)
{
    X509_NAME *name = X509_get_subject_name(certificate);
    long lifetime = (long)days * SECONDS_A_DAY - CLOCK_SKEW_S - 1;
    return X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate) &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -CLOCK_SKEW_S) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), lifetime) != NULL &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1,
                                      0) &&
           X509_set_issuer_name(certificate, name) && X509_set_pubkey(certificate, key) &&
           add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
           add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
           add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

static bool take_text(BIO *bio, struct buffer *text)
{
    char *data = NULL;
    long len = BIO_get_mem_data(bio, &data);
    if (len <= 0)
        return false;
    buffer_append(text, data, (size_t)len);
    return true;
}

static bool write_pem(X509 *certificate, EVP_PKEY *key, struct buffer *certificate_text,
                      struct buffer *key_text)
{
    BIO *first = BIO_new(BIO_s_mem()), *second = BIO_new(BIO_s_secmem());
    bool good = first != NULL && second != NULL && PEM_write_bio_X509(first, certificate) &&
                PEM_write_bio_PrivateKey(second, key, NULL, NULL, 0, NULL, NULL) &&
                take_text(first, certificate_text) && take_text(second, key_text);
    BIO_free(first);
    BIO_free(second);
    return good;
}

int tls_self_signed(int days, struct buffer *certificate, struct buffer *key)
{
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    X509 *x509 = X509_new();
    bool good =
        pair != NULL && x509 != NULL && fill_in(x509, pair, days) && write_pem(x509, pair, certificate, key);
    X509_free(x509);
    EVP_PKEY_free(pair);
    return good ? 0 : -EIO;
}
