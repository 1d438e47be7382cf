#include "http/call.h"

#include "app/context.h"
#include "base/log.h"
#include "http/app.h"
#include "http/request.h"
#include "parse/forwarded.h"

#include <string.h>

static struct pool *pool_of(const struct call *call)
{
    return call->loop->app->pool;
}

static const char *module_of(const struct call *call)
{
    return call->event.action->module->file;
}

/* ---- life ---- */

static void on_timeout(struct timer *timer);
static void come_home(struct mail *mail);
static void run_on_pool(struct job *job);
static bool release(struct request *request);

static cg_str make_id(struct call *call)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t mixed = call->event.owner * 0x9e3779b97f4a7c15u ^ context.id_seed;
    char *text = arena_alloc(&call->arena, 17);
    for (int i = 0; i < 16; i++)
        text[i] = digits[mixed >> (60 - 4 * i) & 15];
    text[16] = '\0';
    return cg_bytes(text, 16);
}

/* As far as it can be known: that of the connection, or what trusted proxies say. */
static cg_str client_ip(struct call *call, const struct request *request)
{
    const struct app *app = call->loop->app;
    const cg_fields fields = {request->fields, request->field_count};
    cg_str ip = cg_string(request->transport->ip);
    if (app->trusted_count > 0)
        ip = forwarded_client(ip, &fields, app->trusted, app->trusted_count);
    return arena_copy(&call->arena, ip.ptr, ip.len);
}

static void fill_in(struct call *call, const struct request *request)
{
    cg_event *public = &call->event.public;
    public->method = request->method_text;
    public->path = request->path;
    public->ip = client_ip(call, request);
    public->query = request->raw_query;
    public->body = cg_bytes("", 0);
    public->url = request->target;
    public->host = request->host;
    public->scheme = request->scheme;
    public->route = request->match.route->pattern;
    public->id = make_id(call);
    public->headers = (cg_fields){request->fields, request->field_count};
}

struct call *call_in(const cg_event *public, const char *function)
{
    const struct event *event = event_of(public);
    if (event->socket)
        log_error("%s: %s: %s is not for the event of a WebSocket", event->action->module->file,
                  public->path.ptr, function);
    return event->socket ? NULL : call_of(public);
}

struct call *call_create(struct request *request)
{
    struct arena arena;
    arena_init(&arena, &request->loop->arenas);
    struct call *call = arena_zalloc(&arena, sizeof *call);
    struct event *event = &call->event;
    call->arena = arena;
    call->request = request;
    request->call = call;
    request->release = release;
    call->loop = request->loop;
    call->job.run = run_on_pool;
    call->mail.run = come_home;
    call->timer.fire = on_timeout;
    call->arena.exhausted = event_exhausted;
    event->arena = &call->arena;
    event->action = request->action;
    event->owner = ++request->loop->next_id;
    answer_init(&event->answer, event->arena);
    fill_in(call, request);
    if (request->loop->app->settings->server_timing)
        clock_gettime(CLOCK_MONOTONIC, &call->created);
    return call;
}

double call_age_ms(const struct call *call)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - call->created.tv_sec) * 1e3 +
           (double)(now.tv_nsec - call->created.tv_nsec) / 1e6;
}

static void free_call(struct call *call)
{
    struct arena arena = call->arena;
    arena_finish(&arena);
}

static void expire_quarantine(struct loop *loop, int64_t before, size_t most)
{
    while (!list_empty(&loop->quarantine)) {
        struct call *call = list_item(loop->quarantine.next, struct call, link);
        if (call->released > before && loop->quarantine_count <= most)
            break;
        list_remove(&call->link);
        loop->quarantine_count--;
        free_call(call);
    }
    if (!list_empty(&loop->quarantine))
        timers_set(&loop->timers, &loop->quarantine_timer,
                   list_item(loop->quarantine.next, struct call, link)->released + CALL_QUARANTINE_MS);
}

static void on_quarantine(struct timer *timer)
{
    struct loop *loop = list_item(timer, struct loop, quarantine_timer);
    expire_quarantine(loop, loop->now - CALL_QUARANTINE_MS, CALL_QUARANTINE_MAX);
}

void call_empty_quarantine(struct loop *loop)
{
    if (!list_linked(&loop->quarantine))
        return;                     /* the loop was never begun */
    mailbox_settle(&loop->mailbox); /* with threads that finished what was finished */
    expire_quarantine(loop, INT64_MAX, 0);
}

/* What a finished deferred event held is given back; its own memory stays for a while, because somebody may
   still believe that it is his to finish. */
static void destroy(struct call *call)
{
    struct loop *loop = call->loop;
    timers_cancel(&loop->timers, &call->timer);
    if (call->way != NULL)
        call->way->finish(call);
    event_finish(&call->event);
    body_finish(&call->body);
    if (!call->deferred) {
        free_call(call);
        return;
    }
    atomic_store(&call->gone, true);
    arena_keep_first(&call->arena); /* which the call itself is in */
    call->request = NULL;
    call->released = loop->now;
    list_append(&loop->quarantine, &call->link);
    loop->quarantine_timer.fire = on_quarantine;
    loop->quarantine_count++;
    expire_quarantine(loop, loop->now - CALL_QUARANTINE_MS, CALL_QUARANTINE_MAX);
}

/* ---- away from the loop ---- */

static void go_away(struct call *call)
{
    call->away = true;
    call->loop->away_count++;
    if (!call->sent)
        timers_set(&call->loop->timers, &call->timer, call->loop->now + call->event.action->timeout);
}

static void be_home(struct call *call)
{
    call->away = false;
    call->loop->away_count--;
    timers_cancel(&call->loop->timers, &call->timer);
}

/* Whoever lets go last sends the call home. */
static void let_go(struct call *call)
{
    if (atomic_fetch_sub(&call->holds, 1) == 1)
        mailbox_post(&call->loop->mailbox, &call->mail);
}

static void run_on_pool(struct job *job)
{
    struct call *call = list_item(job, struct call, job);
    event_call_handler(&call->event);
    let_go(call);
}

static void refuse(struct call *call, const char *reason)
{
    struct event *event = &call->event;
    log_warning("%s: %s: %s; answered 503", module_of(call), event->public.path.ptr, reason);
    answer_text(&event->answer, 503, "503 - Service unavailable");
    answer_set_field(&event->answer, "retry-after", "1");
    call->ops->respond(call->request, event);
}

static void start_on_pool(struct call *call)
{
    call->arena.pool = NULL;
    if (pool_submit(pool_of(call), &call->job) == 0)
        go_away(call);
    else
        refuse(call, "the queue of the pool is full");
}

void call_start(struct call *call, const struct call_ops *ops)
{
    call->ops = ops;
    atomic_store(&call->holds, 1);
    if (call->loop->away_count >= call->loop->app->settings->max_deferred) {
        refuse(call, "MAX_DEFERRED answers are outstanding on this loop");
        return;
    }
    if (call->event.action->blocking) {
        start_on_pool(call);
        return;
    }
    event_call_handler(&call->event);
    if (call->deferred) {
        go_away(call);
        let_go(call);
    } else {
        const struct call_way *way = atomic_load(&call->way);
        atomic_store(&call->holds, 0);
        if (way != NULL)
            way->done(call);
        else
            call->ops->respond(call->request, &call->event);
    }
}

static bool release(struct request *request)
{
    struct call *call = request->call;
    const struct call_way *way = atomic_load(&call->way);
    call->unwanted = true;
    if (!atomic_exchange(&call->gone, true) && way != NULL && way->left != NULL)
        way->left(call);
    if (call->away && pool_cancel(pool_of(call), &call->job))
        be_home(call);
    if (call->away)
        return false;
    destroy(call);
    return true;
}

static void respond_in_turn(void *arg)
{
    struct call *call = arg;
    call->ops->respond(call->request, &call->event);
}

static void come_home(struct mail *mail)
{
    struct call *call = list_item(mail, struct call, mail);
    const struct answer *given = &call->event.answer;
    const struct call_way *way = atomic_load(&call->way);
    be_home(call);
    event_release_locks(&call->event);
    if (call->unwanted) {
        request_destroy(call->request);
    } else if (way != NULL) {
        way->done(call);
    } else if (!call->late) {
        if (call->deferred && given->status == 0 && given->body_len == 0)
            answer_fault(&call->event.answer, "cg_finish without an answer");
        transport_turn(call->request->transport, respond_in_turn, call);
    }
}

bool call_in_turn(const struct call *call)
{
    return loop_current() == call->loop && !call->unwanted && call->request->transport->in_turn;
}

void call_send_head(struct call *call)
{
    if (call->unwanted || call->late || call->sent)
        return;
    call->sent = true;
    timers_cancel(&call->loop->timers, &call->timer);
    if (call_in_turn(call))
        respond_in_turn(call);
    else
        transport_turn(call->request->transport, respond_in_turn, call);
}

void call_resume(struct call *call)
{
    if (call->sent && !call->unwanted)
        call->request->ops->resume(call->request);
}

static void respond_late(void *arg)
{
    struct call *call = arg;
    request_fail(call->request, 504);
}

/* The function goes on, nobody can stop it; its answer will be dropped. */
static void on_timeout(struct timer *timer)
{
    struct call *call = list_item(timer, struct call, timer);
    const cg_event *public = &call->event.public;
    const char *what = call->unwanted ? "and its client has left" : "answered 504";
    log_warning("%s: %s %s: no answer within %lld ms, %s (request %s)", module_of(call), public->method.ptr,
                public->path.ptr, (long long)call->event.action->timeout, what, public->id.ptr);
    if (pool_cancel(pool_of(call), &call->job))
        be_home(call);
    call->late = true;
    atomic_store(&call->gone, true);
    if (!call->unwanted)
        transport_turn(call->request->transport, respond_late, call);
}

/* ---- from any thread ---- */

void call_defer(struct call *call)
{
    if (atomic_load(&call->holds) == 0) {
        log_error("%s: cg_defer outside of the handler", module_of(call));
        return;
    }
    if (call->deferred)
        return;
    call->deferred = true;
    call->arena.pool = NULL;
    atomic_fetch_add(&call->holds, 1);
}

void call_finish(struct call *call)
{
    if (!call->deferred || atomic_exchange(&call->finished, true)) {
        log_error("%s: cg_finish of an event that was %s", module_of(call),
                  call->deferred ? "finished before" : "not deferred");
        mailbox_settle(&call->loop->mailbox);
        return;
    }
    let_go(call);
}
