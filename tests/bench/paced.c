/*
 * Requests at a fixed rate, whatever the server makes of them: an open loop. Latency counts from the moment
 * at which a request was due, so that one which had to wait for a slow answer before it is not forgiven (G.
 * Tene, "How NOT to Measure Latency").
 *
 *     paced PORT PATH CONNECTIONS RATE SECONDS      prints: requests p50 p99 p99.9, in microseconds
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int fd;
    bool busy;
    int64_t due;
    struct bench_answer answer;
};

static int port, epoll;
static struct connection *connections;
static size_t connection_count, *idle, idle_count;
static char request[BENCH_REQUEST_SIZE];
static size_t request_len;
static int64_t *latencies;
static size_t answered;

static void ask(struct connection *connection, int64_t due)
{
    connection->due = due;
    connection->busy = true;
    connection->answer = (struct bench_answer){0};
    if (send(connection->fd, request, request_len, MSG_NOSIGNAL) != (ssize_t)request_len)
        bench_die("send");
}

static void join(struct connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    connection->fd = bench_connect(port);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        bench_die("epoll_ctl");
}

/* Some servers take only so many requests on a connection; what it was asked is asked again. */
static void reopen(struct connection *connection)
{
    close(connection->fd);
    join(connection);
    if (connection->busy)
        ask(connection, connection->due);
}

static void hear(struct connection *connection)
{
    static char input[65536];
    ssize_t got = recv(connection->fd, input, sizeof input, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        reopen(connection);
        return;
    }
    if (!bench_answer_take(&connection->answer, input, (size_t)got))
        return;
    latencies[answered++] = bench_now() - connection->due;
    connection->busy = false;
    idle[idle_count++] = (size_t)(connection - connections);
}

/* What is due is asked as soon as a connection is free for it. */
static void run(double interval, size_t total)
{
    struct epoll_event events[256];
    const int64_t start = bench_now();
    size_t asked = 0;
    while (answered < total) {
        int64_t now = bench_now();
        while (asked < total && idle_count > 0 && start + (int64_t)((double)asked * interval) <= now) {
            ask(&connections[idle[--idle_count]], start + (int64_t)((double)asked * interval));
            asked++;
        }
        int count = epoll_wait(epoll, events, 256, 0);
        for (int i = 0; i < count; i++)
            hear(events[i].data.ptr);
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: %s PORT PATH CONNECTIONS RATE SECONDS\n", argv[0]);
        return 2;
    }
    port = atoi(argv[1]);
    const double rate = atof(argv[4]);
    const size_t total = (size_t)(rate * atof(argv[5]));
    connection_count = (size_t)atoi(argv[3]);
    connections = bench_alloc(connection_count * sizeof *connections);
    idle = bench_alloc(connection_count * sizeof *idle);
    latencies = bench_alloc((total + 1) * sizeof *latencies);
    request_len = bench_request(request, port, argv[2]);
    epoll = epoll_create1(0);
    for (size_t i = 0; i < connection_count; i++) {
        join(&connections[i]);
        idle[idle_count++] = i;
    }
    run(1e6 / rate, total);
    qsort(latencies, answered, sizeof *latencies, by_size);
    printf("%zu %lld %lld %lld\n", answered, (long long)latencies[answered / 2],
           (long long)latencies[answered * 99 / 100], (long long)latencies[answered * 999 / 1000]);
    return 0;
}
