#include "http/runners.h"

#include "app/context.h"
#include "app/fault.h"
#include "app/topics.h"
#include "base/alloc.h"
#include "http/call.h"
#include "http/files.h"
#include "http/listener.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct runner {
    struct runners *all;
    struct loop loop;
    pthread_t thread;
    struct tls_context *tls;
    struct listener *listeners;
    size_t listener_count;
    struct mail listen, drain, leave;
};

struct runners {
    const struct app *app;
    const struct inheritance *inheritance;
    struct runner *items;
    struct loop **loops; /* of the items */
    size_t count;
    size_t started; /* threads */
    atomic_bool leaving;
    pthread_mutex_t lock; /* of those below */
    pthread_cond_t changed;
    size_t begun, left, ended; /* threads that serve, or can't; that accept no more; that have returned */
    char *failure;
};

/* ---- on the loops' threads ---- */

static void on_drain(struct mail *mail)
{
    struct loop *loop = &list_item(mail, struct runner, drain)->loop;
    loop->stopping = loop->draining = true;
}

/* One more of begun, left or ended. */
static void count(struct runners *runners, size_t *number)
{
    pthread_mutex_lock(&runners->lock);
    ++*number;
    pthread_cond_signal(&runners->changed);
    pthread_mutex_unlock(&runners->lock);
}

static void on_leave(struct mail *mail)
{
    struct runner *runner = list_item(mail, struct runner, leave);
    for (size_t i = 0; i < runner->listener_count; i++)
        listener_finish(&runner->listeners[i]);
    count(runner->all, &runner->all->left);
    loop_leave(&runner->loop);
}

static void on_listen(struct mail *mail)
{
    struct runner *runner = list_item(mail, struct runner, listen);
    const struct inheritance *inheritance = runner->all->inheritance;
    for (size_t i = 0; i < inheritance->listener_count; i++)
        if (inheritance->listeners[i].loop == runner->loop.index)
            listener_init(&runner->listeners[runner->listener_count++], &runner->loop,
                          &inheritance->listeners[i], runner->tls);
}

static void note_failure(struct runners *runners, const struct module *failed)
{
    pthread_mutex_lock(&runners->lock);
    if (runners->failure == NULL)
        runners->failure = xsprintf("%s: thread_init failed", failed->file);
    pthread_mutex_unlock(&runners->lock);
}

static void *run(void *arg)
{
    struct runner *runner = arg;
    struct runners *all = runner->all;
    const struct module *failed = NULL;
    char name[16];
    snprintf(name, sizeof name, "loop %u", runner->loop.index);
    pthread_setname_np(pthread_self(), name);
    loop_enter(&runner->loop);
    fault_thread_start(true);
    int error = modules_thread_start(&all->app->modules, &failed);
    if (failed != NULL)
        note_failure(all, failed);
    count(all, &all->begun);
    if (error == 0) {
        loop_run(&runner->loop);
        modules_thread_stop(&all->app->modules);
    }
    fault_thread_stop();
    count(all, &all->ended);
    return NULL;
}

/* ---- life ---- */

static size_t listeners_of(const struct inheritance *inheritance, unsigned loop)
{
    size_t count = 0;
    for (size_t i = 0; i < inheritance->listener_count; i++)
        count += inheritance->listeners[i].loop == loop;
    return count;
}

static int prepare(struct runners *runners, unsigned index, const struct tls_identity *identity,
                   struct static_table *files, char **ret_error)
{
    struct runner *runner = &runners->items[index];
    runner->all = runners;
    runners->loops[index] = &runner->loop;
    runner->drain.run = on_drain;
    runner->leave.run = on_leave;
    runner->listen.run = on_listen;
    int error = loop_init(&runner->loop, index, runners->app);
    if (error != 0) {
        *ret_error = xsprintf("loop %u: %s", index, strerror(-error));
        return error;
    }
    topics_bind(context.topics, index, &runner->loop.mailbox);
    files_begin(&runner->loop, files);
    if (identity != NULL && (runner->tls = tls_context_create(identity, ret_error)) == NULL)
        return -EINVAL;
    runner->listeners = xzalloc((listeners_of(runners->inheritance, index) + 1) * sizeof *runner->listeners);
    return 0;
}

int runners_create(const struct app *app, const struct inheritance *inheritance,
                   const struct tls_identity *identity, struct static_table *files,
                   struct runners **ret_runners, char **ret_error)
{
    struct runners *runners = xzalloc(sizeof *runners);
    pthread_condattr_t monotonic;
    int error = 0;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&runners->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&runners->lock, NULL);
    runners->app = app;
    runners->inheritance = inheritance;
    runners->count = (size_t)app->settings->threads;
    runners->items = xzalloc(runners->count * sizeof *runners->items);
    runners->loops = xzalloc(runners->count * sizeof *runners->loops);
    for (unsigned i = 0; error == 0 && i < runners->count; i++)
        error = prepare(runners, i, identity, files, ret_error);
    if (error != 0) {
        runners_destroy(runners);
        return error;
    }
    context.loops = runners->loops;
    *ret_runners = runners;
    return 0;
}

void runners_destroy(struct runners *runners)
{
    if (runners == NULL)
        return;
    for (size_t i = 0; i < runners->count; i++) {
        struct runner *runner = &runners->items[i];
        for (size_t k = 0; k < runner->listener_count; k++)
            listener_finish(&runner->listeners[k]);
        free(runner->listeners);
        mailbox_empty(&runner->loop.mailbox);
        call_empty_quarantine(&runner->loop);
        loop_finish(&runner->loop);
        tls_context_destroy(runner->tls);
    }
    pthread_cond_destroy(&runners->changed);
    pthread_mutex_destroy(&runners->lock);
    free(runners->failure);
    context.loops = NULL;
    free(runners->loops);
    free(runners->items);
    free(runners);
}

int runners_start(struct runners *runners, char **ret_error)
{
    for (; runners->started < runners->count; runners->started++) {
        struct runner *runner = &runners->items[runners->started];
        int error = pthread_create(&runner->thread, NULL, run, runner);
        if (error != 0) {
            *ret_error = xsprintf("thread of loop %u: %s", runner->loop.index, strerror(error));
            return -error;
        }
    }
    pthread_mutex_lock(&runners->lock);
    while (runners->begun < runners->count)
        pthread_cond_wait(&runners->changed, &runners->lock);
    if (runners->failure != NULL)
        *ret_error = xstrdup(runners->failure);
    pthread_mutex_unlock(&runners->lock);
    return runners->failure ? -EINVAL : 0;
}

/* ---- from outside ---- */

void runners_offer_files(struct runners *runners, struct static_table *files)
{
    for (size_t i = 0; i < runners->count; i++)
        files_offer(&runners->items[i].loop, files);
}

void runners_drain(struct runners *runners)
{
    for (size_t i = 0; i < runners->count; i++)
        mailbox_post(&runners->items[i].loop.mailbox, &runners->items[i].drain);
}

void runners_listen(struct runners *runners)
{
    for (size_t i = 0; i < runners->count; i++)
        mailbox_post(&runners->items[i].loop.mailbox, &runners->items[i].listen);
}

/* A fault and a reload may ask for it at once. */
void runners_leave(struct runners *runners)
{
    if (atomic_exchange(&runners->leaving, true))
        return;
    for (size_t i = 0; i < runners->count; i++)
        mailbox_post(&runners->items[i].loop.mailbox, &runners->items[i].leave);
}

static struct timespec in_ms(int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    return until;
}

/* Whether left or ended has come to be all of them. */
static bool await_all(struct runners *runners, const size_t *number, int64_t wait_ms)
{
    struct timespec until = in_ms(wait_ms);
    int error = 0;
    pthread_mutex_lock(&runners->lock);
    while (*number < runners->started && error == 0)
        error = pthread_cond_timedwait(&runners->changed, &runners->lock, &until);
    bool all = *number == runners->started;
    pthread_mutex_unlock(&runners->lock);
    return all;
}

bool runners_await_left(struct runners *runners, int64_t wait_ms)
{
    return await_all(runners, &runners->left, wait_ms);
}

bool runners_join(struct runners *runners, int64_t wait_ms)
{
    bool all = await_all(runners, &runners->ended, wait_ms);
    for (size_t i = 0; all && i < runners->started; i++)
        pthread_join(runners->items[i].thread, NULL);
    return all;
}
