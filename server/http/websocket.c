#include "http/websocket.h"

#include "app/context.h"
#include "base/alloc.h"
#include "base/log.h"
#include "http/app.h"
#include "http/websockets.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS 20    /* until the pool is asked again that had no room */
#define SPREAD_MS 2000 /* over which the sockets of a worker that stops are told so... */
#define SPREAD_SHARE 4 /* ...but no more than this part of STOP_TIMEOUT */

static int64_t now_of(const struct websocket *ws)
{
    return ws->loop->now;
}

/* ---- hooks ---- */

struct hook_call {
    struct websocket *ws;
    enum websocket_hook hook;
    cg_message message;
};

static void call_hook(void *arg)
{
    const struct hook_call *call = arg;
    struct websocket *ws = call->ws;
    const cg_module *hooks = &ws->event.action->module->hooks;
    cg_ws *public = (cg_ws *)ws;
    if (call->hook == WEBSOCKET_OPEN && hooks->open != NULL)
        hooks->open(public);
    else if (call->hook == WEBSOCKET_MESSAGE && hooks->message != NULL)
        hooks->message(public, &call->message);
    else if (call->hook == WEBSOCKET_DRAIN && hooks->drain != NULL)
        hooks->drain(public);
    else if (call->hook == WEBSOCKET_CLOSE && hooks->close != NULL)
        hooks->close(public, ws->code, cg_string(ws->reason ? ws->reason : ""));
}

/* What a hook allocates, writes and locks is its own: it ends with it. False: it was left in the middle. */
static bool run_hook(struct websocket *ws, enum websocket_hook hook, cg_str data, struct arena_pool *pool)
{
    struct event *event = &ws->event;
    struct hook_call call = {ws, hook, {data, ws->kind == WS_TEXT ? CG_TEXT : CG_BINARY}};
    struct arena arena;
    arena_init(&arena, pool);
    arena.exhausted = event_exhausted;
    event->arena = event->answer.arena = &arena;
    bool done = event_call(event, call_hook, &call);
    if (event->answer.fault != NULL)
        log_error("%s: %s: WebSocket: %s; closed with 1011 (request %s)", event->action->module->name,
                  event->public.path.ptr, event->answer.fault, event->public.id.ptr);
    event_release_locks(event);
    answer_finish(&event->answer);
    event->answer.sent = true;
    event->arena = event->answer.arena = &ws->kept;
    arena_finish(&arena);
    return done;
}

static void check_hook(struct websocket *ws, bool done)
{
    if (!done)
        websocket_fail(ws, WS_INTERNAL, "internal error");
}

static void run_on_loop(struct websocket *ws, enum websocket_hook hook, cg_str data)
{
    ws->hook = hook;
    bool done = run_hook(ws, hook, data, &ws->loop->arenas);
    ws->hook = WEBSOCKET_NO_HOOK;
    check_hook(ws, done);
}

static void run_on_pool(struct job *job)
{
    struct websocket *ws = list_item(job, struct websocket, job);
    cg_str data = cg_bytes(ws->message.data ? ws->message.data : "", ws->message.len);
    ws->hook_done = run_hook(ws, ws->hook, data, NULL);
    mailbox_post(&ws->loop->mailbox, &ws->home);
}

static void end_message(struct websocket *ws)
{
    buffer_finish(&ws->message);
    ws->kind = WS_CONTINUATION;
}

static void resume(struct websocket *ws)
{
    if (ws->tunnel.carrier != NULL)
        ws->tunnel.carrier->resume(&ws->tunnel);
}

static void come_home(struct mail *mail)
{
    struct websocket *ws = list_item(mail, struct websocket, home);
    if (ws->hook == WEBSOCKET_MESSAGE)
        end_message(ws);
    ws->hook = WEBSOCKET_NO_HOOK;
    check_hook(ws, ws->hook_done);
    if (websocket_run_hooks(ws))
        resume(ws);
}

static void start_on_pool(struct websocket *ws, enum websocket_hook hook)
{
    ws->hook = hook;
    if (pool_submit(ws->loop->app->pool, &ws->job) == 0)
        return;
    ws->hook = WEBSOCKET_NO_HOOK;
    ws->due |= hook;
    timers_set(&ws->loop->timers, &ws->timer, now_of(ws) + RETRY_MS);
}

static void destroy(struct websocket *ws)
{
    websockets_remove(ws->loop, ws);
    timers_cancel(&ws->loop->timers, &ws->timer);
    list_remove(&ws->task.link);
    websocket_discard(ws);
}

bool websocket_run_hooks(struct websocket *ws)
{
    bool waits = false;
    while (ws->due != 0 && ws->hook == WEBSOCKET_NO_HOOK && !ws->holding && !waits) {
        enum websocket_hook hook = (enum websocket_hook)(ws->due & -ws->due);
        ws->due &= ~(unsigned)hook;
        if (!ws->event.action->blocking)
            run_on_loop(ws, hook, cg_bytes("", 0));
        else
            start_on_pool(ws, hook);
        waits = (ws->due & hook) != 0;
    }
    if (!ws->left || ws->due != 0 || ws->hook != WEBSOCKET_NO_HOOK || ws->holding)
        return true;
    destroy(ws);
    return false;
}

void websocket_tell_message(struct websocket *ws, cg_str data)
{
    ws->used = now_of(ws);
    if (ws->close_sent) {
        end_message(ws);
    } else if (ws->event.action->blocking) {
        ws->due |= WEBSOCKET_MESSAGE;
        websocket_run_hooks(ws);
    } else {
        run_on_loop(ws, WEBSOCKET_MESSAGE, data);
        end_message(ws);
    }
}

/* ---- time ---- */

/* What the client takes of that which waits for it is a sign of life, too. While a hook runs on the pool
   nothing is read, and nothing can be told. */
static void look_for_life(struct websocket *ws)
{
    const uint64_t taken = ws->tunnel.carrier->taken(&ws->tunnel);
    if (ws->hook != WEBSOCKET_NO_HOOK || (taken != ws->taken && stream_available(&ws->tunnel.out) > 0))
        ws->heard = now_of(ws);
    ws->taken = taken;
    if (ws->heard >= ws->pinged)
        ws->pinged = 0;
}

static void set_timer(struct websocket *ws)
{
    const struct socket_rules *rules = ws->rules;
    int64_t next = ws->pinged != 0 ? ws->pinged + rules->pong_timeout : ws->heard + rules->ping_interval;
    if (rules->idle_timeout != 0 && ws->used + rules->idle_timeout < next)
        next = ws->used + rules->idle_timeout;
    if (ws->leave_at != 0 && ws->leave_at < next)
        next = ws->leave_at;
    timers_set(&ws->loop->timers, &ws->timer, ws->close_sent ? ws->close_by : next);
}

static void cut_off(struct websocket *ws)
{
    ws->tunnel.carrier->abort(&ws->tunnel);
}

/* False: it was cut off, and may be freed. */
static bool check_life(struct websocket *ws)
{
    const struct socket_rules *rules = ws->rules;
    const int64_t now = now_of(ws);
    if (ws->close_sent) {
        if (now < ws->close_by)
            return true;
        cut_off(ws);
        return false;
    }
    look_for_life(ws);
    if (ws->pinged != 0 && now >= ws->pinged + rules->pong_timeout) {
        ws->loop->counts.websockets_lost++;
        cut_off(ws);
        return false;
    }
    if (ws->leave_at != 0 && now >= ws->leave_at) {
        websocket_close(ws, WS_GOING_AWAY, "the server stops");
    } else if (rules->idle_timeout != 0 && now >= ws->used + rules->idle_timeout) {
        websocket_close(ws, WS_NORMAL, "idle for too long");
    } else if (ws->pinged == 0 && now >= ws->heard + rules->ping_interval) {
        ws->pinged = now;
        websocket_control(ws, WS_PING, NULL, 0);
    }
    return true;
}

static void on_timer(struct timer *timer)
{
    struct websocket *ws = list_item(timer, struct websocket, timer);
    if (!websocket_run_hooks(ws) || ws->tunnel.carrier == NULL || !check_life(ws))
        return;
    if (ws->timer.place == 0)
        set_timer(ws);
}

/* ---- what the carrier tells ---- */

static void end_of_input(struct tunnel *tunnel)
{
    tunnel->carrier->abort(tunnel);
}

/* Spread out, so that they do not all come back in one wave. */
static void drain(struct tunnel *tunnel)
{
    struct websocket *ws = (struct websocket *)tunnel;
    int64_t spread = ws->loop->app->settings->stop_timeout / SPREAD_SHARE;
    spread = spread < SPREAD_MS ? spread : SPREAD_MS;
    ws->leave_at = now_of(ws) + randombytes_uniform((uint32_t)spread + 1);
    if (!ws->close_sent)
        timers_set(&ws->loop->timers, &ws->timer, ws->leave_at);
}

static void gone(struct tunnel *tunnel)
{
    struct websocket *ws = (struct websocket *)tunnel;
    ws->left = ws->close_sent = ws->close_taken = true;
    topics_leave(context.topics, ws->loop->index, &ws->subscriber);
    stream_close(&tunnel->out);
    timers_cancel(&ws->loop->timers, &ws->timer);
    if (ws->code == 0)
        ws->code = ws->own_code != 0 ? ws->own_code : WS_VANISHED;
    ws->due = (ws->due & ~(unsigned)WEBSOCKET_DRAIN) | WEBSOCKET_CLOSE;
    websocket_run_hooks(ws);
}

static const struct tunnel_user user = {
    .input = websocket_input,
    .end_of_input = end_of_input,
    .drain = drain,
    .gone = gone,
};

static void on_task(struct loop_task *task)
{
    struct websocket *ws = list_item(task, struct websocket, task);
    if (websocket_run_hooks(ws))
        resume(ws);
}

/* The rest of the turn is the carrier's. */
static void on_room(struct stream *stream)
{
    struct websocket *ws = (struct websocket *)stream;
    if (ws->pressed)
        ws->due |= WEBSOCKET_DRAIN;
    if (ws->pressed || ws->paused)
        loop_soon(ws->loop, &ws->task);
    ws->pressed = false;
}

/* ---- life ---- */

struct websocket *websocket_create(struct loop *loop, struct event *event)
{
    struct websocket *ws = xzalloc(sizeof *ws);
    ws->loop = loop;
    ws->rules = event->action->socket;
    stream_init(&ws->tunnel.out, ws->rules->queue_limit);
    ws->tunnel.out.on_drain = on_room;
    ws->kept.exhausted = event_exhausted;
    event->arena = &ws->kept;
    return ws;
}

void websocket_discard(struct websocket *ws)
{
    if (ws == NULL)
        return;
    stream_close(&ws->tunnel.out);
    message_coding_destroy(ws->coding);
    buffer_finish(&ws->message);
    free(ws->reason);
    free(ws->event_memory);
    arena_finish(&ws->kept);
    free(ws);
}

void websocket_open(struct websocket *ws, const struct event *event)
{
    ws->tunnel.user = &user;
    ws->event_memory = event_copy(event, &ws->event);
    ws->event.arena = ws->event.answer.arena = &ws->kept;
    ws->event.answer.sent = true;
    ws->event.socket = true;
    ws->subscriber.deliver = websocket_deliver;
    ws->timer.fire = on_timer;
    ws->task.run = on_task;
    ws->job.run = run_on_pool;
    ws->home.run = come_home;
    ws->holding = true;
    ws->heard = ws->used = now_of(ws);
    ws->due = WEBSOCKET_OPEN;
    websockets_add(ws->loop, ws);
    ws->loop->counts.websockets++;
}

void websocket_begin(struct websocket *ws)
{
    ws->holding = false;
    if (!websocket_run_hooks(ws))
        return;
    if (ws->timer.place == 0)
        set_timer(ws);
    if (ws->loop->leaving)
        drain(&ws->tunnel);
    loop_soon(ws->loop, &ws->task);
}
