/*
 * Connections that were used once and say nothing more, for as long as standard input is open.
 *
 *     idle plain|tls|h2 PORT PATH COUNT      prints "ready" when all are there
 */
#include "bench.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FRAME_HEAD 9
#define TYPE_DATA 0
#define TYPE_SETTINGS 4
#define FLAG_END_STREAM 1
#define FLAG_ACK 1

static char request[BENCH_REQUEST_SIZE];

static void read_all(SSL *tls, void *out, size_t len)
{
    for (char *at = out; len > 0;) {
        int got = SSL_read(tls, at, (int)len);
        if (got <= 0)
            bench_die("read");
        at += got;
        len -= (size_t)got;
    }
}

/* The preface, an empty SETTINGS, and "GET /" with literals of the static table (RFC 7541, appendix A). */
static void exchange_h2(SSL *tls)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\4\0\0\0\0\0"
                                "\0\0\10\1\5\0\0\0\1\202\207\204\101\3a.b";
    static const unsigned char ack[FRAME_HEAD] = {0, 0, 0, TYPE_SETTINGS, FLAG_ACK, 0, 0, 0, 0};
    unsigned char head[FRAME_HEAD], payload[65536];
    if (SSL_write(tls, hello, sizeof hello - 1) <= 0)
        bench_die("write");
    do {
        read_all(tls, head, sizeof head);
        size_t len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (len > sizeof payload)
            bench_die("a frame that is too large");
        read_all(tls, payload, len);
        if (head[3] == TYPE_SETTINGS && !(head[4] & FLAG_ACK) && SSL_write(tls, ack, sizeof ack) <= 0)
            bench_die("write");
    } while (head[3] != TYPE_DATA || !(head[4] & FLAG_END_STREAM));
}

static void open_tls(SSL_CTX *context, int fd, bool h2)
{
    static const unsigned char alpn[] = "\2h2";
    SSL *tls = SSL_new(context); /* never freed: it is the connection */
    SSL_set_fd(tls, fd);
    if (h2)
        SSL_set_alpn_protos(tls, alpn, sizeof alpn - 1);
    if (SSL_connect(tls) != 1)
        bench_die("handshake");
    if (h2)
        exchange_h2(tls);
    else
        bench_exchange_tls(tls, request);
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    if (argc != 5) {
        fprintf(stderr, "usage: %s plain|tls|h2 PORT PATH COUNT\n", argv[0]);
        return 2;
    }
    const int port = atoi(argv[2]);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    bench_request(request, port, argv[3]);
    for (int i = atoi(argv[4]); i > 0; i--) {
        int fd = bench_connect(port);
        if (strcmp(argv[1], "plain") == 0)
            bench_exchange(fd, request);
        else
            open_tls(context, fd, strcmp(argv[1], "h2") == 0);
    }
    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
