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
    size_t threads, thread_limit;
    pthread_cond_t changed; /* threads */
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
    pthread_cond_init(&pool->changed, NULL);
    if (hooks != NULL)
        pool->hooks = *hooks;
    return pool;
}

/* The next job, or NULL when the pool closes and nothing is left. The lock is held. */
static struct job *next_job(struct pool *pool)
{
    while (list_empty(&pool->queue) && !pool->closing) {
        if (pool->idle++ == 0)
            pthread_cond_broadcast(&pool->changed);
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

static void run_jobs(struct pool *pool)
{
    struct job *job;
    pthread_mutex_lock(&pool->lock);
    while ((job = next_job(pool)) != NULL) {
        pool->running++;
        pthread_mutex_unlock(&pool->lock);
        job->run(job);
        pthread_mutex_lock(&pool->lock);
        pool->running--;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* A thread that can't begin retires; the first one is known to have begun. */
static void *work(void *arg)
{
    struct pool *pool = arg;
    pthread_setname_np(pthread_self(), "pool");
    if (pool->hooks.begin == NULL || pool->hooks.begin(pool->hooks.user) == 0) {
        run_jobs(pool);
        if (pool->hooks.end != NULL)
            pool->hooks.end(pool->hooks.user);
    }
    pthread_mutex_lock(&pool->lock);
    pool->threads--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int start_thread(struct pool *pool)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, work, pool);
    if (error != 0)
        return -error;
    pthread_detach(thread);
    pool->threads++;
    return 0;
}

int pool_start(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int error = start_thread(pool);
    while (error == 0 && pool->threads > 0 && pool->idle == 0)
        pthread_cond_wait(&pool->changed, &pool->lock);
    if (error == 0 && pool->threads == 0)
        error = -ECANCELED;
    pthread_mutex_unlock(&pool->lock);
    return error;
}

/* One more thread when all have work; that there is none to be had is no error as long as there is one. */
int pool_submit(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    int error = pool->waiting >= pool->queue_limit ? -EAGAIN : 0;
    if (error == 0 && pool->waiting >= pool->idle && pool->threads < pool->thread_limit)
        error = start_thread(pool);
    if (error != -EAGAIN && pool->threads > 0)
        error = 0;
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
    while (pool->threads > 0)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&pool->changed);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void pool_stats(struct pool *pool, struct pool_stats *ret_stats)
{
    pthread_mutex_lock(&pool->lock);
    *ret_stats = (struct pool_stats){pool->threads, pool->waiting, pool->running};
    pthread_mutex_unlock(&pool->lock);
}
