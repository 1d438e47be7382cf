#include "http/worker.h"

#include "app/context.h"
#include "app/static_watch.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/app.h"
#include "http/files.h"
#include "http/listener.h"
#include "shm/shm.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAILBOX_PAUSE_MS 5

/* One loop on its thread. */
struct runner {
    struct worker *worker;
    struct loop loop;
    pthread_t thread;
    struct tls_context *tls;
    struct listener *listeners;
    size_t listener_count;
    bool joinable;
};

struct worker {
    const struct settings *settings;
    const struct inheritance *inheritance;
    struct app app;
    struct tls_identity *identity;
    struct static_watch *files;
    size_t file_count; /* at the start */
    atomic_bool stopping;
    struct runner *runners;
    size_t runner_count;
    pthread_mutex_t lock; /* of the two below: how many threads have begun, and what went wrong in one */
    pthread_cond_t begun_changed;
    size_t begun;
    char *failure;
};

/* ---- the app ---- */

static void warn_lines(const char *lines)
{
    for (const char *end; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        log_warning("%.*s", (int)(end - lines), lines);
}

static void load_seal_key(const struct settings *settings)
{
    int error = seal_key_load(settings->state_dir, &context.seal);
    if (error != 0)
        log_warning("%s/seal.key: %s; sealed cookies will not outlive this worker", settings->state_dir,
                    error == -EBADMSG ? "is not a key" : strerror(-error));
}

static int open_context(struct worker *worker, char **ret_error)
{
    const struct settings *settings = worker->settings;
    struct shm *shm = NULL;
    if (sodium_init() < 0) {
        *ret_error = xstrdup("libsodium can't be used here");
        return -EIO;
    }
    int error = shm_attach(worker->inheritance->shm_fd, &shm);
    if (error == 0)
        error = shm_worker_join(shm);
    if (error != 0) {
        *ret_error = xsprintf("shared memory: %s", shm_explain(error));
        shm_close(shm);
        return error;
    }
    context = (struct context){.settings = settings, .shm = shm};
    mode_t mask = umask(0);
    umask(mask);
    context.file_mode = 0666 & ~mask;
    randombytes_buf(&context.id_seed, sizeof context.id_seed);
    load_seal_key(settings);
    return 0;
}

/* What keeps a function from being called: told once for a module, and for each route that has a reason of
 * its own. */
static void tell_problems(const struct app *app)
{
    for (size_t i = 0; i < app->modules.count; i++)
        if (app->modules.items[i]->error != NULL)
            log_error("%s", app->modules.items[i]->error);
    for (size_t i = 0; i < router_count(app->router); i++) {
        const struct route *route = router_route(app->router, i);
        const char *told = NULL;
        for (size_t k = 0; k <= METHOD_COUNT; k++) {
            const struct action *action = route->actions[k];
            if (action == NULL || action->unavailable == NULL || action->module->error != NULL ||
                action->unavailable == told)
                continue;
            told = action->unavailable;
            log_error("%s: %s", route->pattern.ptr, told);
        }
    }
}

static int load_files(struct worker *worker, char **ret_error)
{
    const struct settings *settings = worker->settings;
    const struct static_options options = {.dir = settings->public_dir,
                                           .memory = settings->static_memory,
                                           .rules = settings->cache_rules,
                                           .rule_count = settings->cache_rule_count};
    int error = static_watch_create(&options, settings->static_refresh, &worker->files, ret_error);
    if (error == 0)
        worker->file_count = static_table_count(static_watch_table(worker->files));
    return error;
}

static int load_app(struct worker *worker, char **ret_error)
{
    struct app *app = &worker->app;
    *app = (struct app){.settings = worker->settings, .ssl_port = worker->inheritance->ssl_port};
    int error = modules_load(worker->settings, &app->modules, ret_error);
    if (error != 0)
        return error;
    modules_start(&app->modules);
    app->router = router_create(worker->settings, &app->modules, ret_error);
    if (app->router == NULL)
        return -EINVAL;
    tell_problems(app);
    return load_files(worker, ret_error);
}

static int load_identity(struct worker *worker, char **ret_error)
{
    const struct settings *settings = worker->settings;
    if (!settings->ssl)
        return 0;
    int error = tls_identity_load(settings->ssl_cert, settings->ssl_key, &worker->identity, ret_error);
    if (error != 0)
        return error;
    const char *warning = tls_identity_warning(worker->identity);
    if (warning != NULL)
        log_warning("%s", warning);
    if (tls_identity_self_signed(worker->identity))
        log_warning(
            "no SSL_CERT: browsers will not trust the self-signed certificate that was made for localhost");
    return 0;
}

/* ---- threads ---- */

static void tell_begun(struct worker *worker, const struct module *failed)
{
    pthread_mutex_lock(&worker->lock);
    worker->begun++;
    if (failed != NULL && worker->failure == NULL)
        worker->failure = xsprintf("%s: thread_init failed", failed->file);
    pthread_cond_signal(&worker->begun_changed);
    pthread_mutex_unlock(&worker->lock);
}

static void *run(void *arg)
{
    struct runner *runner = arg;
    struct worker *worker = runner->worker;
    const struct module *failed = NULL;
    char name[16];
    snprintf(name, sizeof name, "loop %u", runner->loop.index);
    pthread_setname_np(pthread_self(), name);
    int error = modules_thread_start(&worker->app.modules, &failed);
    tell_begun(worker, failed);
    if (error != 0)
        return NULL;
    loop_run(&runner->loop);
    modules_thread_stop(&worker->app.modules);
    return NULL;
}

static size_t listeners_of(const struct worker *worker, unsigned loop)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->inheritance->listener_count; i++)
        count += worker->inheritance->listeners[i].loop == loop;
    return count;
}

static int prepare_runner(struct worker *worker, unsigned index, char **ret_error)
{
    struct runner *runner = &worker->runners[index];
    runner->worker = worker;
    int error = loop_init(&runner->loop, index, &worker->app);
    if (error != 0) {
        *ret_error = xsprintf("loop %u: %s", index, strerror(-error));
        return error;
    }
    files_begin(&runner->loop, static_watch_table(worker->files));
    if (worker->identity != NULL && (runner->tls = tls_context_create(worker->identity, ret_error)) == NULL)
        return -EINVAL;
    runner->listeners = xzalloc((listeners_of(worker, index) + 1) * sizeof *runner->listeners);
    return 0;
}

static void listen_all(struct runner *runner)
{
    const struct inheritance *inheritance = runner->worker->inheritance;
    for (size_t i = 0; i < inheritance->listener_count; i++)
        if (inheritance->listeners[i].loop == runner->loop.index)
            listener_init(&runner->listeners[runner->listener_count++], &runner->loop,
                          &inheritance->listeners[i], runner->tls);
}

/* Threads begin to serve as soon as they run; ready is told when all do. */
static int start_threads(struct worker *worker, char **ret_error)
{
    for (size_t i = 0; i < worker->runner_count; i++) {
        struct runner *runner = &worker->runners[i];
        listen_all(runner);
        int error = pthread_create(&runner->thread, NULL, run, runner);
        if (error != 0) {
            *ret_error = xsprintf("thread of loop %zu: %s", i, strerror(error));
            return -error;
        }
        runner->joinable = true;
    }
    pthread_mutex_lock(&worker->lock);
    while (worker->begun < worker->runner_count)
        pthread_cond_wait(&worker->begun_changed, &worker->lock);
    *ret_error = worker->failure;
    pthread_mutex_unlock(&worker->lock);
    return worker->failure ? -EINVAL : 0;
}

static void pause_ms(int64_t ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
        ;
}

/* A loop whose mailbox is full will have emptied it soon. */
static void offer_files(void *arg, struct static_table *table)
{
    struct worker *worker = arg;
    for (size_t i = 0; i < worker->runner_count; i++)
        while (!atomic_load(&worker->stopping) && files_offer(&worker->runners[i].loop, table) == -EAGAIN)
            pause_ms(MAILBOX_PAUSE_MS);
}

static void tell_about_files(void *arg, const char *text)
{
    (void)arg;
    warn_lines(text);
}

static int watch_files(struct worker *worker, char **ret_error)
{
    int error = static_watch_start(
        worker->files,
        &(struct static_listener){.publish = offer_files, .tell = tell_about_files, .arg = worker});
    if (error != 0)
        *ret_error = xsprintf("thread of the files: %s", strerror(-error));
    return error;
}

static int start_worker(struct worker *worker, char **ret_error)
{
    int error = open_context(worker, ret_error);
    if (error == 0)
        error = load_app(worker, ret_error);
    if (error == 0)
        error = load_identity(worker, ret_error);
    worker->runner_count = (size_t)worker->settings->threads;
    worker->runners = xzalloc(worker->runner_count * sizeof *worker->runners);
    for (unsigned i = 0; error == 0 && i < worker->runner_count; i++)
        error = prepare_runner(worker, i, ret_error);
    if (error == 0)
        error = start_threads(worker, ret_error);
    return error == 0 ? watch_files(worker, ret_error) : error;
}

/* ---- the supervisor ---- */

static void tell(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        log_debug("the supervisor is gone: %s", strerror(errno));
}

static void tell_ready(const struct worker *worker)
{
    char text[128];
    snprintf(text, sizeof text, "ready %zu files, %zu routes\n", worker->file_count,
             router_count(worker->app.router));
    tell(worker->inheritance->supervisor_fd, text);
}

static void tell_failed(const struct worker *worker, const char *reason)
{
    char *text = xsprintf("failed %s", reason);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    tell(worker->inheritance->supervisor_fd, text);
    tell(worker->inheritance->supervisor_fd, "\n");
    free(text);
}

/* Until it says "stop" or is gone. Nothing else is ever said, so any word will do. */
static void wait_for_stop(const struct worker *worker)
{
    char word[64];
    ssize_t got;
    do
        got = read(worker->inheritance->supervisor_fd, word, sizeof word);
    while (got < 0 && errno == EINTR);
}

/* ---- the end ---- */

static void begin_draining(void *arg)
{
    ((struct runner *)arg)->loop.draining = true;
}

static void stop_accepting(void *arg)
{
    struct runner *runner = arg;
    for (size_t i = 0; i < runner->listener_count; i++)
        listener_finish(&runner->listeners[i]);
    loop_leave(&runner->loop);
}

static void tell_loops(struct worker *worker, void (*what)(void *))
{
    for (size_t i = 0; i < worker->runner_count; i++)
        if (worker->runners[i].joinable)
            mailbox_post(&worker->runners[i].loop.mailbox, what, &worker->runners[i]);
}

/* true: all threads have ended. false: some connection or function would not. */
static bool join_threads(struct worker *worker, int64_t wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    for (size_t i = 0; i < worker->runner_count; i++) {
        struct runner *runner = &worker->runners[i];
        if (runner->joinable && pthread_clockjoin_np(runner->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
            return false;
        runner->joinable = false;
    }
    return true;
}

static void finish_worker(struct worker *worker)
{
    for (size_t i = 0; i < worker->runner_count; i++) {
        struct runner *runner = &worker->runners[i];
        for (size_t k = 0; k < runner->listener_count; k++)
            listener_finish(&runner->listeners[k]);
        free(runner->listeners);
        loop_finish(&runner->loop);
        tls_context_destroy(runner->tls);
    }
    free(worker->runners);
    modules_stop(&worker->app.modules);
    router_destroy(worker->app.router);
    modules_finish(&worker->app.modules);
    static_watch_destroy(worker->files);
    tls_identity_destroy(worker->identity);
    free(worker->failure);
    shm_close(context.shm);
    sodium_memzero(&context.seal, sizeof context.seal);
    pthread_cond_destroy(&worker->begun_changed);
    pthread_mutex_destroy(&worker->lock);
}

/* First the health check turns red and load balancers look away, then the queue is left to others, then what
   has begun may end. */
static void stop(struct worker *worker)
{
    tell_loops(worker, begin_draining);
    pause_ms(worker->settings->stop_delay);
    atomic_store(&worker->stopping, true);
    static_watch_stop(worker->files); /* before the loops, so that they get all that was offered to them */
    tell_loops(worker, stop_accepting);
    if (join_threads(worker, worker->settings->stop_timeout))
        return;
    log_warning("stopping after %lld ms with requests still under way",
                (long long)worker->settings->stop_timeout);
    _exit(0);
}

int worker_run(const struct settings *settings, const struct inheritance *inheritance)
{
    struct worker worker = {.settings = settings,
                            .inheritance = inheritance,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .begun_changed = PTHREAD_COND_INITIALIZER};
    char *error = NULL;
    log_set_level(settings->verbose ? CG_DEBUG : CG_INFO);
    if (start_worker(&worker, &error) != 0) {
        tell_failed(&worker, error ? error : "unknown error");
        _exit(1); /* threads may be running already */
    }
    tell_ready(&worker);
    wait_for_stop(&worker);
    stop(&worker);
    finish_worker(&worker);
    return 0;
}
