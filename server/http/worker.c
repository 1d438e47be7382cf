#include "http/worker.h"

#include "app/access_writer.h"
#include "app/context.h"
#include "app/crash_limit.h"
#include "app/fault.h"
#include "app/pool.h"
#include "app/static_watch.h"
#include "app/topics.h"
#include "app/watchdog.h"
#include "base/alloc.h"
#include "base/log.h"
#include "http/app.h"
#include "http/runners.h"
#include "shm/shm.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAVE_MS 1000 /* for all loops to accept no more */

struct worker {
    const struct settings *settings;
    const struct inheritance *inheritance;
    struct app app;
    struct tls_identity *identity;
    struct static_watch *files;
    size_t file_count; /* at the start */
    struct runners *runners;
    struct watchdog *watchdog;
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
    context.topics = topics_create(shm, (unsigned)settings->threads);
    mode_t mask = umask(0);
    umask(mask);
    context.file_mode = 0666 & ~mask;
    randombytes_buf(&context.id_seed, sizeof context.id_seed);
    load_seal_key(settings);
    return 0;
}

static void log_problem(const char *text)
{
    log_error("%s", text);
}

static const char *first_problem(const struct modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        if (modules->items[i]->error != NULL)
            return modules->items[i]->error;
    return "a route has no handler; see the log";
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
    cg_str bad;
    if (worker->settings->trusted_proxies != NULL) /* checked when it was read */
        app->trusted_count = (size_t)networks_parse(worker->settings->trusted_proxies, app->trusted, &bad);
    int error = modules_load(worker->settings, &app->modules, ret_error);
    if (error != 0)
        return error;
    size_t off = crash_limit_apply(context.shm, &app->modules);
    modules_start(&app->modules);
    app->router = router_create(worker->settings, &app->modules);
    size_t problems = router_tell_problems(app->router, &app->modules, log_problem);
    if (problems > off && worker->inheritance->reload) {
        *ret_error = xstrdup(first_problem(&app->modules));
        return -EINVAL;
    }
    return load_files(worker, ret_error);
}

static int begin_pool_thread(void *modules)
{
    const struct module *failed = NULL;
    fault_thread_start(false);
    int error = modules_thread_start(modules, &failed);
    if (failed != NULL)
        log_error("%s: thread_init failed with %d on a thread of the pool", failed->file, error);
    return error;
}

static void end_pool_thread(void *modules)
{
    modules_thread_stop(modules);
    fault_thread_stop();
}

static bool has_blocking(const struct router *router)
{
    for (size_t i = 0; i < router_count(router); i++) {
        const struct action *socket = router_route(router, i)->socket;
        if (socket != NULL && socket->blocking)
            return true;
        for (size_t k = 0; k <= METHOD_COUNT; k++) {
            const struct action *action = router_route(router, i)->actions[k];
            if (action != NULL && action->blocking)
                return true;
        }
    }
    return false;
}

/* Without functions that block there are no threads for them. */
static int open_pool(struct worker *worker, char **ret_error)
{
    const struct settings *settings = worker->settings;
    const struct pool_hooks hooks = {begin_pool_thread, end_pool_thread, &worker->app.modules};
    worker->app.pool = pool_create(settings->pool_threads, settings->pool_queue, &hooks);
    int error = has_blocking(worker->app.router) ? pool_start(worker->app.pool) : 0;
    if (error != 0)
        *ret_error = xsprintf("the pool has no thread: %s",
                              error == -ECANCELED ? "thread_init failed" : strerror(-error));
    return error;
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

static int open_access_log(struct worker *worker, char **ret_error)
{
    const char *path = worker->settings->access_log;
    int error = path ? access_writer_open(path, &worker->app.access) : 0;
    if (error != 0)
        *ret_error = xsprintf("ACCESS_LOG %s: %s", path, strerror(-error));
    return error;
}

static void offer_files(void *arg, struct static_table *table)
{
    runners_offer_files(((struct worker *)arg)->runners, table);
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
    if (error == 0)
        error = open_access_log(worker, ret_error);
    if (error == 0)
        error = open_pool(worker, ret_error);
    if (error == 0)
        error = runners_create(&worker->app, worker->inheritance, worker->identity,
                               static_watch_table(worker->files), &worker->runners, ret_error);
    if (error == 0)
        error = runners_start(worker->runners, ret_error);
    if (error == 0 && !worker->inheritance->reload)
        runners_listen(worker->runners);
    return error == 0 ? watch_files(worker, ret_error) : error;
}

/* ---- the supervisor ---- */

static void tell(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        log_debug("the supervisor is gone: %s", strerror(errno));
}

static const struct worker *faultable; /* the one of this process, once it serves */

/* Nobody knows what else the function has broken: what has begun may end here, all else is for the next
   worker. */
static void on_fault(const struct module *module)
{
    char text[256];
    snprintf(text, sizeof text, "faulted %.200s\n", module->file);
    crash_limit_note(context.shm, module, faultable->settings->crash_limit);
    tell(faultable->inheritance->supervisor_fd, text);
    runners_leave(faultable->runners);
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

/* The first letter of what it says: go, logs, retire or stop. Gone is as good as stop. */
static char hear(const struct worker *worker)
{
    char word[16] = "";
    size_t len = 0;
    ssize_t got;
    do {
        got = read(worker->inheritance->supervisor_fd, word + len, 1);
        if (got > 0 && word[len] == '\n')
            return word[0];
        if (got > 0 && len + 1 < sizeof word)
            len++;
    } while (got > 0 || (got < 0 && errno == EINTR));
    return 's';
}

/* True: it is only this worker that ends. */
static bool wait_for_end(const struct worker *worker)
{
    char word;
    while ((word = hear(worker)) == 'g' || word == 'l') {
        if (word == 'g')
            runners_listen(worker->runners);
        else if (worker->app.access != NULL)
            access_writer_reopen(worker->app.access);
    }
    return word == 'r';
}

/* ---- the end ---- */

static void finish_worker(struct worker *worker)
{
    watchdog_stop(worker->watchdog);
    pool_destroy(worker->app.pool);
    modules_stop(&worker->app.modules); /* with threads of theirs, which may reach the loops */
    runners_destroy(worker->runners);
    access_writer_close(worker->app.access);
    router_destroy(worker->app.router);
    modules_finish(&worker->app.modules);
    static_watch_destroy(worker->files);
    tls_identity_destroy(worker->identity);
    topics_destroy(context.topics);
    shm_close(context.shm);
    sodium_memzero(&context.seal, sizeof context.seal);
}

static void pause_ms(int64_t ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
        ;
}

/* First the health check turns red and load balancers look away, then the queue is left to others, then what
   has begun may end. One that retires has been replaced: all is well. */
static void stop(struct worker *worker, bool retires)
{
    const struct settings *settings = worker->settings;
    const int64_t most = retires ? settings->drain_timeout : settings->stop_timeout;
    if (!retires) {
        runners_drain(worker->runners);
        pause_ms(settings->stop_delay);
    }
    static_watch_stop(worker->files); /* before the loops, so that they get all that was offered to them */
    runners_leave(worker->runners);
    if (retires) {
        if (!runners_await_left(worker->runners, LEAVE_MS) && fault_happened()) {
            log_error("a loop does not go on after the crash; ending this worker");
            _exit(1);
        }
        tell(worker->inheritance->supervisor_fd, "left\n");
    }
    if (runners_join(worker->runners, most))
        return;
    log_warning("stopping after %lld ms with requests still under way", (long long)most);
    _exit(0);
}

int worker_run(const struct settings *settings, const struct inheritance *inheritance)
{
    struct worker worker = {.settings = settings, .inheritance = inheritance};
    char *error = NULL;
    fault_init();
    log_set_level(settings->verbose ? CG_DEBUG : CG_INFO);
    if (start_worker(&worker, &error) != 0) {
        tell_failed(&worker, error ? error : "unknown error");
        _exit(1); /* threads may be running already */
    }
    faultable = &worker;
    context.faulted = on_fault;
    worker.watchdog = watchdog_start();
    tell_ready(&worker);
    stop(&worker, wait_for_end(&worker));
    finish_worker(&worker);
    return 0;
}
