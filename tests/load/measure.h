/* What a server costs and how fast it answers, from outside. */
#ifndef LOAD_MEASURE_H
#define LOAD_MEASURE_H

#include "tests/e2e/harness.h"

/* Of the worker. */
long measure_rss(const struct server *server); /* kB that are resident */
size_t measure_descriptors(const struct server *server);

int64_t measure_now(void); /* monotonic us */

struct latency {
    long p50, p99; /* us */
    size_t count;
};
/* One request after the other on one connection, for so long. */
struct latency measure_latency(const struct server *server, const char *path, int ms);

/* The best of several such measurements: the worst is often another program's. Also the most descriptors of
   the worker after any of them. */
struct latency measure_best_latency(const struct server *server, const char *path, size_t *ret_descriptors);

/* A blocking connection on loopback; receive: bytes of its window, 0 for the kernel's choice. */
int measure_connect(const struct server *server, int receive);

/* Allows this process and its children as many descriptors as the system does. */
void measure_raise_limits(void);

/* The number in the variable of that name, or another. */
long measure_option(const char *name, long otherwise);

#endif
