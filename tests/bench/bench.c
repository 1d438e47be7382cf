#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void bench_die(const char *what)
{
    perror(what);
    exit(1);
}

void *bench_alloc(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        bench_die("calloc");
    return memory;
}

int64_t bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

int bench_try_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        bench_die("socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

int bench_connect(int port)
{
    int fd = bench_try_connect(port);
    if (fd < 0)
        bench_die("connect");
    return fd;
}

size_t bench_request(char out[BENCH_REQUEST_SIZE], int port, const char *path)
{
    return (size_t)snprintf(out, BENCH_REQUEST_SIZE, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path,
                            port);
}

void bench_exchange(int fd, const char *request)
{
    char input[65536];
    struct bench_answer answer = {0};
    ssize_t got;
    if (send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
        bench_die("send");
    do {
        got = recv(fd, input, sizeof input, 0);
        if (got <= 0)
            bench_die("recv");
    } while (!bench_answer_take(&answer, input, (size_t)got));
}

void bench_exchange_tls(SSL *tls, const char *request)
{
    char input[65536];
    struct bench_answer answer = {0};
    int got;
    if (SSL_write(tls, request, (int)strlen(request)) <= 0)
        bench_die("write");
    do {
        got = SSL_read(tls, input, sizeof input);
        if (got <= 0)
            bench_die("read");
    } while (!bench_answer_take(&answer, input, (size_t)got));
}

static void read_head(struct bench_answer *answer)
{
    const char *length = strcasestr(answer->head, "\r\ncontent-length:");
    errno = EPROTO;
    answer->chunked = strcasestr(answer->head, "\r\ntransfer-encoding: chunked") != NULL;
    if (strncmp(answer->head, "HTTP/1.1 200", 12) != 0 || (length == NULL && !answer->chunked))
        bench_die(answer->head);
    answer->left = length ? strtoul(length + 17, NULL, 10) : 0;
    answer->in_body = true;
}

/* The pages of the benchmark do not hold what the last chunk looks like. */
static bool is_last_chunk(struct bench_answer *answer, const char *data, size_t len)
{
    static const char end[] = "\r\n0\r\n\r\n";
    for (; len > 0 && answer->matched < sizeof end - 1; data++, len--)
        answer->matched = *data == end[answer->matched] ? answer->matched + 1 : *data == '\r';
    return answer->matched == sizeof end - 1;
}

bool bench_answer_take(struct bench_answer *answer, const char *data, size_t len)
{
    for (; len > 0 && !answer->in_body; data++, len--) {
        if (answer->head_len + 1 == sizeof answer->head)
            bench_die("a head that is too long");
        answer->head[answer->head_len++] = *data;
        if (answer->head_len >= 4 && memcmp(answer->head + answer->head_len - 4, "\r\n\r\n", 4) == 0)
            read_head(answer);
    }
    if (answer->chunked)
        return answer->in_body && is_last_chunk(answer, data, len);
    if (len > answer->left)
        bench_die("bytes behind an answer");
    answer->left -= len;
    return answer->in_body && answer->left == 0;
}
