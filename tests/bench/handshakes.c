/*
 * TLS connections one after the other, each for one request, on 127.0.0.1.
 *
 *     handshakes full|resumed PORT PATH SECONDS      prints how many there were
 */
#include "bench.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static SSL_SESSION *session; /* of the last connection */
static char request[BENCH_REQUEST_SIZE];

static int keep_session(SSL *tls, SSL_SESSION *fresh)
{
    (void)tls;
    SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

static void connect_once(SSL_CTX *context, int port, bool resume)
{
    SSL *tls = SSL_new(context);
    int fd = bench_connect(port);
    resume = resume && session != NULL;
    SSL_set_fd(tls, fd);
    if (resume)
        SSL_set_session(tls, session);
    if (SSL_connect(tls) != 1)
        bench_die("handshake");
    if (resume && !SSL_session_reused(tls))
        bench_die("a session was not resumed");
    bench_exchange_tls(tls, request);
    SSL_shutdown(tls);
    SSL_free(tls);
    close(fd);
}

int main(int argc, char **argv)
{
    bool resume = argc == 5 && strcmp(argv[1], "resumed") == 0;
    if (argc != 5 || (!resume && strcmp(argv[1], "full") != 0)) {
        fprintf(stderr, "usage: %s full|resumed PORT PATH SECONDS\n", argv[0]);
        return 2;
    }
    const int port = atoi(argv[2]);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (resume) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    }
    bench_request(request, port, argv[3]);
    unsigned count = 0;
    for (int64_t end = bench_now() + (int64_t)(atof(argv[4]) * 1e6); bench_now() < end; count++)
        connect_once(context, port, resume);
    printf("%u\n", count);
    return 0;
}
