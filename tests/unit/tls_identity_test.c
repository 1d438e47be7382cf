#include "http/tls_identity.h"
#include "http/tls_self_signed.h"

#include "base/alloc.h"
#include "suite.h"

#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/tls_identity_test.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    static const char *const names[] = {"cert.pem", "key.pem", "other.pem"};
    char path[96];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static char *store(const char *name, const char *text, size_t len)
{
    char *path = xsprintf("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

/* Loads both files, expects failure, and that the error names the file and says why. */
static void expect_error(const char *cert, const char *key, const char *file, const char *why)
{
    struct tls_identity *identity = NULL;
    char *error = NULL;
    ck_assert_int_lt(tls_identity_load(cert, key, &identity, &error), 0);
    ck_assert_ptr_null(identity);
    ck_assert_ptr_nonnull(error);
    ck_assert_msg(strstr(error, file) != NULL && strstr(error, why) != NULL, "%s", error);
    ck_assert_ptr_null(strchr(error, '\n'));
    free(error);
}

static void make_pair(int days, char **ret_cert, char **ret_key)
{
    struct buffer cert = {0}, key = {0};
    ck_assert_int_eq(tls_self_signed(days, &cert, &key), 0);
    *ret_cert = store("cert.pem", cert.data, cert.len);
    *ret_key = store("key.pem", key.data, key.len);
    buffer_finish(&cert);
    buffer_finish(&key);
}

START_TEST(self_signed_is_for_this_machine)
{
    struct tls_identity *identity = NULL;
    char *error = NULL;
    ck_assert_int_eq(tls_identity_load(NULL, NULL, &identity, &error), 0);
    ck_assert(tls_identity_self_signed(identity));
    ck_assert_ptr_null(tls_identity_warning(identity));

    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    ck_assert_int_eq(tls_identity_install(identity, ctx, NULL, &error), 0);
    X509 *certificate = SSL_CTX_get0_certificate(ctx);
    ck_assert_int_eq(X509_check_host(certificate, "localhost", 0, 0, NULL), 1);
    ck_assert_int_eq(X509_check_host(certificate, "example.org", 0, 0, NULL), 0);
    ck_assert_int_eq(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
    ck_assert_int_eq(X509_check_ip_asc(certificate, "::1", 0), 1);
    int days = 0, seconds = 0;
    ck_assert_int_eq(
        ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate), X509_get0_notAfter(certificate)),
        1);
    ck_assert_int_eq(days, TLS_SELF_SIGNED_DAYS - 1);
    ck_assert_int_eq(X509_cmp_current_time(X509_get0_notBefore(certificate)), -1);
    SSL_CTX_free(ctx);
    tls_identity_destroy(identity);
}
END_TEST

START_TEST(self_signed_serial_numbers_differ)
{
    char *text[2];
    for (int i = 0; i < 2; i++) {
        struct buffer cert = {0}, key = {0};
        ck_assert_int_eq(tls_self_signed(1, &cert, &key), 0);
        BIO *bio = BIO_new_mem_buf(cert.data, (int)cert.len);
        X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
        text[i] = BN_bn2hex(number);
        BN_free(number);
        X509_free(certificate);
        BIO_free(bio);
        buffer_finish(&cert);
        buffer_finish(&key);
    }
    ck_assert_str_ne(text[0], text[1]);
    OPENSSL_free(text[0]);
    OPENSSL_free(text[1]);
}
END_TEST

/* The same identity serves contexts of different library contexts: each loop has its own. */
START_TEST(installs_in_several_library_contexts)
{
    char *cert, *key, *error = NULL;
    struct tls_identity *identity = NULL;
    unsigned char tickets[2][80];
    make_pair(30, &cert, &key);
    ck_assert_int_eq(tls_identity_load(cert, key, &identity, &error), 0);
    ck_assert(!tls_identity_self_signed(identity));
    for (int i = 0; i < 2; i++) {
        OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
        SSL_CTX *ctx = SSL_CTX_new_ex(library, NULL, TLS_server_method());
        ck_assert_int_eq(tls_identity_install(identity, ctx, library, &error), 0);
        ck_assert_int_eq(SSL_CTX_check_private_key(ctx), 1);
        ck_assert_int_eq(SSL_CTX_get_tlsext_ticket_keys(ctx, tickets[i], sizeof tickets[i]), 1);
        SSL_CTX_free(ctx);
        OSSL_LIB_CTX_free(library);
    }
    ck_assert_mem_eq(tickets[0], tickets[1], sizeof tickets[0]);
    tls_identity_destroy(identity);
    free(cert);
    free(key);
}
END_TEST

/* The files that a renewal may leave behind (case 72). */
START_TEST(case_72_bad_files_are_told_by_name)
{
    char *cert, *key;
    make_pair(30, &cert, &key);
    char *other = store("other.pem", "", 0);
    expect_error("/nowhere/cert.pem", key, "/nowhere/cert.pem", "No such file");
    expect_error(cert, "/nowhere/key.pem", "/nowhere/key.pem", "No such file");
    expect_error(folder, key, folder, "it is no regular file");
    expect_error(other, key, other, "empty");
    expect_error(cert, other, other, "empty");
    expect_error(cert, NULL, cert, "no key");
    expect_error(NULL, key, key, "no certificate");
    expect_error(key, cert, key, "but a key");
    expect_error(cert, cert, cert, "no private key");
    free(other);
    other = store("other.pem", "hello\n", 6);
    expect_error(other, key, other, "no certificate");
    free(other);
    other = store("other.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 60);
    expect_error(other, key, other, "certificate");
    free(other);
    free(cert);
    free(key);
}
END_TEST

START_TEST(case_72_key_of_another_certificate)
{
    struct buffer cert = {0}, foreign = {0};
    char *mine, *key;
    make_pair(30, &mine, &key);
    ck_assert_int_eq(tls_self_signed(30, &cert, &foreign), 0);
    char *other = store("other.pem", foreign.data, foreign.len);
    expect_error(mine, other, other, "does not belong");
    expect_error(mine, other, mine, "does not belong");
    buffer_finish(&cert);
    buffer_finish(&foreign);
    free(other);
    free(mine);
    free(key);
}
END_TEST

START_TEST(case_72_expired_loads_with_a_warning)
{
    char *cert, *key, *error = NULL;
    struct tls_identity *identity = NULL;
    make_pair(-1, &cert, &key);
    ck_assert_int_eq(tls_identity_load(cert, key, &identity, &error), 0);
    ck_assert_ptr_nonnull(tls_identity_warning(identity));
    ck_assert_ptr_nonnull(strstr(tls_identity_warning(identity), "expired"));
    ck_assert_ptr_nonnull(strstr(tls_identity_warning(identity), cert));
    tls_identity_destroy(identity);
    free(cert);
    free(key);
}
END_TEST

START_TEST(password_is_never_asked_for)
{
    char *cert, *key, path[96];
    make_pair(30, &cert, &key);
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    snprintf(path, sizeof path, "%s/other.pem", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(PEM_write_PKCS8PrivateKey(file, pair, EVP_aes_128_cbc(), "secret", 6, NULL, NULL), 1);
    fclose(file);
    expect_error(cert, path, path, "password");
    EVP_PKEY_free(pair);
    free(cert);
    free(key);
}
END_TEST

static X509 *chain_at(SSL_CTX *ctx, int index)
{
    STACK_OF(X509) *chain = NULL;
    SSL_CTX_get0_chain_certs(ctx, &chain);
    return chain != NULL && index < sk_X509_num(chain) ? sk_X509_value(chain, index) : NULL;
}

START_TEST(intermediates_are_sent_along)
{
    struct buffer leaf = {0}, key = {0}, second = {0}, unused = {0};
    struct tls_identity *identity = NULL;
    char *error = NULL;
    ck_assert_int_eq(tls_self_signed(30, &leaf, &key), 0);
    ck_assert_int_eq(tls_self_signed(30, &second, &unused), 0);
    buffer_append(&leaf, second.data, second.len);
    char *cert_file = store("cert.pem", leaf.data, leaf.len), *key_file = store("key.pem", key.data, key.len);
    ck_assert_int_eq(tls_identity_load(cert_file, key_file, &identity, &error), 0);
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    ck_assert_int_eq(tls_identity_install(identity, ctx, NULL, &error), 0);
    ck_assert_ptr_nonnull(chain_at(ctx, 0));
    ck_assert_ptr_null(chain_at(ctx, 1));
    SSL_CTX_free(ctx);
    tls_identity_destroy(identity);
    buffer_finish(&leaf);
    buffer_finish(&key);
    buffer_finish(&second);
    buffer_finish(&unused);
    free(cert_file);
    free(key_file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tls_identity");
    TCase *tcase = tcase_create("all");
    tcase_add_unchecked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, self_signed_is_for_this_machine);
    tcase_add_test(tcase, self_signed_serial_numbers_differ);
    tcase_add_test(tcase, installs_in_several_library_contexts);
    tcase_add_test(tcase, case_72_bad_files_are_told_by_name);
    tcase_add_test(tcase, case_72_key_of_another_certificate);
    tcase_add_test(tcase, case_72_expired_loads_with_a_warning);
    tcase_add_test(tcase, password_is_never_asked_for);
    tcase_add_test(tcase, intermediates_are_sent_along);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
