#include "app/pool.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct pool {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    struct list queue;
    size_t waiting, queue_limit;
    size_t idle; /* threads that wait for work */
    size_t running;
    pthread_t *threads;
    size_t thread_count, thread_limit;
    bool closing;
    struct pool_hooks hooks;
};

struct pool *pool_create(size_t threads, size_t queue, const struct pool_hooks *hooks)
{
    struct pool *pool = xzalloc(sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    list_init(&pool->queue);
    pool->queue_limit = queue;
    pool->thread_limit = threads;
    pool->threads = xzalloc(threads * sizeof *pool->threads);
    if (hooks != NULL)
        pool->hooks = *hooks;
    return pool;
}

/* The next job, or NULL when the pool closes and nothing is left. The lock is held. */
static struct job *next_job(struct pool *pool)
{
    while (list_empty(&pool->queue) && !pool->closing) {
        pool->idle++;
        pthread_cond_wait(&pool->work, &pool->lock);
        pool->idle--;
    }
    if (list_empty(&pool->queue))
        return NULL;
    struct job *job = list_item(pool->queue.next, struct job, link);
    list_remove(&job->link);
    pool->waiting--;
    return job;
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    struct job *job;
    bool begun = pool->hooks.begin == NULL || pool->hooks.begin(pool->hooks.user) == 0;
    if (!begun)
        abort(); /* it has begun on every loop; a pool without threads would keep its callers for ever */
    pthread_setname_np(pthread_self(), "pool");
    pthread_mutex_lock(&pool->lock);
    while ((job = next_job(pool)) != NULL) {
        pool->running++;
        pthread_mutex_unlock(&pool->lock);
        job->run(job);
        pthread_mutex_lock(&pool->lock);
        pool->running--;
    }
    pthread_mutex_unlock(&pool->lock);
    if (pool->hooks.end != NULL)
        pool->hooks.end(pool->hooks.user);
    return NULL;
}

/* One more thread when all have work. It is an error only when there is none at all. The lock is held. */
static int grow(struct pool *pool)
{
    if (pool->waiting < pool->idle || pool->thread_count == pool->thread_limit)
        return 0;
    int error = pthread_create(&pool->threads[pool->thread_count], NULL, work, pool);
    if (error == 0)
        pool->thread_count++;
    return pool->thread_count == 0 ? -error : 0;
}

int pool_submit(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    int error = pool->waiting >= pool->queue_limit ? -EAGAIN : grow(pool);
    if (error == 0) {
        list_append(&pool->queue, &job->link);
        pool->waiting++;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return error;
}

bool pool_cancel(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    bool waits = list_linked(&job->link);
    if (waits) {
        list_remove(&job->link);
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->lock);
    return waits;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

void pool_stats(struct pool *pool, struct pool_stats *ret_stats)
{
    pthread_mutex_lock(&pool->lock);
    *ret_stats = (struct pool_stats){pool->thread_count, pool->waiting, pool->running};
    pthread_mutex_unlock(&pool->lock);
}
