/* What the clients of the benchmark share. They end the process when anything is not as it should be. */
#ifndef BENCH_H
#define BENCH_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Noreturn void bench_die(const char *what);
void *bench_alloc(size_t size); /* zeroed */
int64_t bench_now(void);        /* monotonic us */
/* A blocking connection to 127.0.0.1. */
int bench_connect(int port);
int bench_try_connect(int port); /* -1 instead, when nobody listens */

#define BENCH_REQUEST_SIZE 4096
/* Writes a GET with its terminating NUL. Returns its length. */
size_t bench_request(char out[BENCH_REQUEST_SIZE], int port, const char *path);
/* Sends a request and takes the whole answer. */
void bench_exchange(int fd, const char *request);
void bench_exchange_tls(SSL *tls, const char *request);

/* One answer, with a Content-Length or in chunks, as its bytes come in. Zeroed at its start. */
struct bench_answer {
    char head[2048];
    size_t head_len;
    size_t left; /* of the body */
    bool in_body, chunked;
    size_t matched; /* of the end of the last chunk */
};
/* True when it is complete. Bytes beyond it, or a status other than 200, end the process. */
bool bench_answer_take(struct bench_answer *answer, const char *data, size_t len);

#endif
