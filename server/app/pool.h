/* Threads for functions that block: as many as there is work for, up to a bound, in front of a bounded
   queue. */
#ifndef APP_POOL_H
#define APP_POOL_H

#include "base/list.h"

#include <stdbool.h>
#include <stddef.h>

struct pool;

/* Embedded in what is to be done. run is called once, on a thread of the pool; the job may be freed by
   then. */
struct job {
    struct list link; /* linked as long as it waits */
    void (*run)(struct job *job);
};

struct pool_hooks {           /* run on each thread of the pool, at its birth and its end */
    int (*begin)(void *user); /* not 0: the thread can't serve, and ends */
    void (*end)(void *user);
    void *user;
};

struct pool_stats {
    size_t threads, waiting, running;
};

/* threads: at most that many, made when needed; queue: jobs that may wait. */
struct pool *pool_create(size_t threads, size_t queue, const struct pool_hooks *hooks);
/* Makes the first thread and waits until it has begun, so that there is always one. -ECANCELED: its begin
   failed. To be called before the first job. */
int pool_start(struct pool *pool);
/* Runs what waits, then ends the threads. */
void pool_destroy(struct pool *pool);

/* From any thread: 0, or -EAGAIN when the queue is full. */
int pool_submit(struct pool *pool, struct job *job);
/* True: it had not begun, and never will. */
bool pool_cancel(struct pool *pool, struct job *job);

void pool_stats(struct pool *pool, struct pool_stats *ret_stats);

#endif
