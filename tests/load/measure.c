#include "measure.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_SAMPLES 1000000
#define WINDOW_MS 1000 /* of one measurement among several... */
#define WINDOWS 6      /* ...of which the best counts */
#define PAUSE_US 500   /* between two requests: the client is a guest, not a load */

long measure_rss(const struct server *server)
{
    char line[256];
    long kb = -1;
    FILE *file = fopen(text_print("/proc/%d/status", (int)server->worker), "re");
    ck_assert_ptr_nonnull(file);
    while (kb < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    fclose(file);
    ck_assert_int_ge(kb, 0);
    return kb;
}

size_t measure_descriptors(const struct server *server)
{
    DIR *folder = opendir(text_print("/proc/%d/fd", (int)server->worker));
    size_t count = 0;
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

int64_t measure_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

int measure_connect(const struct server *server, int receive)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    const struct timeval patience = {.tv_sec = 60};
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_ge(fd, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (receive != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static int by_size(const void *a, const void *b)
{
    long left = *(const long *)a, right = *(const long *)b;
    return (left > right) - (left < right);
}

struct latency measure_latency(const struct server *server, const char *path, int ms)
{
    long *samples = malloc(MAX_SAMPLES * sizeof *samples);
    char *request = text_print("GET %s HTTP/1.1\r\nHost: x.test\r\n\r\n", path), answer[65536];
    struct latency latency = {0};
    int fd = measure_connect(server, 0);
    for (int64_t end = measure_now() + ms * INT64_C(1000), start; (start = measure_now()) < end;) {
        ck_assert_int_eq(send(fd, request, strlen(request), MSG_NOSIGNAL), (int)strlen(request));
        ck_assert_int_gt(recv(fd, answer, sizeof answer, 0), 0);
        ck_assert_int_lt(latency.count, MAX_SAMPLES);
        samples[latency.count++] = (long)(measure_now() - start);
        nanosleep(&(struct timespec){0, PAUSE_US * 1000}, NULL);
    }
    close(fd);
    qsort(samples, latency.count, sizeof *samples, by_size);
    latency.p50 = samples[latency.count / 2];
    latency.p99 = samples[latency.count * 99 / 100];
    free(samples);
    return latency;
}

struct latency measure_best_latency(const struct server *server, const char *path, size_t *ret_descriptors)
{
    struct latency best = {.p99 = LONG_MAX};
    *ret_descriptors = 0;
    for (int i = 0; i < WINDOWS; i++) {
        struct latency latency = measure_latency(server, path, WINDOW_MS);
        size_t descriptors = measure_descriptors(server);
        if (latency.p99 < best.p99)
            best = latency;
        if (descriptors > *ret_descriptors)
            *ret_descriptors = descriptors;
    }
    return best;
}

void measure_raise_limits(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

long measure_option(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : otherwise;
}
