#include "app/action.h"

#include "app/event.h"

#include <stdio.h>

/* The module's own handler of exactly this method. */
static cg_handler *own_handler(const cg_module *hooks, enum method method)
{
    switch (method) {
    case METHOD_GET:
        return hooks->get;
    case METHOD_HEAD:
        return hooks->head;
    case METHOD_POST:
        return hooks->post;
    case METHOD_PUT:
        return hooks->put;
    case METHOD_PATCH:
        return hooks->patch;
    case METHOD_DELETE:
        return hooks->delete;
    default:
        return NULL;
    }
}

static bool has_socket(const cg_module *hooks)
{
    return hooks->upgrade || hooks->open || hooks->message || hooks->drain || hooks->close;
}

/* The rules of the setting (NULL: none), filled up with what holds for all. */
static const struct socket_rules *make_socket_rules(const struct settings *settings,
                                                    const struct route_setting *setting, struct arena *arena)
{
    struct socket_rules *rules = arena_zalloc(arena, sizeof *rules);
    if (setting != NULL)
        *rules = setting->socket;
    if (rules->message_limit == 0)
        rules->message_limit = settings->message_limit;
    if (rules->queue_limit == 0)
        rules->queue_limit = settings->stream_queue;
    if (rules->ping_interval == 0)
        rules->ping_interval = settings->ping_interval;
    if (rules->pong_timeout == 0)
        rules->pong_timeout = settings->pong_timeout;
    return rules;
}

static struct action *action_create(const struct settings *settings, const struct route_setting *setting,
                                    const struct module *module, struct arena *arena)
{
    struct action *action = arena_zalloc(arena, sizeof *action);
    action->module = module;
    action->body_limit = settings->body_limit;
    action->timeout = settings->timeout;
    action->loop_timeout = settings->loop_timeout;
    action->blocking = (module->hooks.flags & CG_BLOCKING) != 0;
    if (setting != NULL) {
        action->parameters = setting->parameters;
        action->parameter_count = setting->parameter_count;
        action->is_private = setting->is_private;
        action->plain = setting->plain;
        action->blocking = action->blocking || setting->blocking;
        if (setting->body_limit != 0)
            action->body_limit = setting->body_limit;
        if (setting->timeout != 0)
            action->timeout = action->loop_timeout = setting->timeout;
    }
    return action;
}

/* An action with this handler, or one that says what is missing. */
static const struct action *make(const struct action *rules, cg_handler *handler, const char *missing,
                                 struct arena *arena)
{
    struct action *action = arena_alloc(arena, sizeof *action);
    *action = *rules;
    if (rules->module->error != NULL)
        action->unavailable = rules->module->error;
    else if (handler == NULL)
        action->unavailable = arena_printf(arena, "%s: has no %s", rules->module->file, missing).ptr;
    else
        action->handler = handler;
    return action;
}

static void call_upgrade(cg_event *public)
{
    struct event *event = event_of(public);
    int (*upgrade)(cg_event * event) = event->action->module->hooks.upgrade;
    event->verdict = upgrade ? upgrade(public) : 0;
}

static const struct action *make_socket(const struct action *rules, const struct socket_rules *socket,
                                        struct arena *arena)
{
    struct action with_socket = *rules;
    with_socket.socket = socket;
    return make(&with_socket, has_socket(&rules->module->hooks) ? call_upgrade : NULL,
                "WebSocket hook (.open, .message...)", arena);
}

/* For a setting that names no method: one action for each handler, .handle for the rest, and WebSockets. */
static void add_all(struct route *route, const struct action *rules, const struct socket_rules *socket,
                    struct arena *arena)
{
    const cg_module *hooks = &rules->module->hooks;
    bool any = false;
    for (int method = 0; method < METHOD_COUNT; method++) {
        cg_handler *handler = own_handler(hooks, method);
        any = any || handler != NULL;
        if (handler != NULL)
            route->actions[method] = make(rules, handler, "", arena);
    }
    if (has_socket(hooks) && route->socket == NULL)
        route->socket = make_socket(rules, socket, arena);
    if (hooks->handle != NULL || (!any && !has_socket(hooks)))
        route->actions[METHOD_COUNT] = make(rules, hooks->handle, "handler in its CG_MODULE(...)", arena);
}

static const struct action *make_named(const struct action *rules, cg_str name, struct arena *arena)
{
    const char *missing = arena_printf(arena, "CG_HANDLER(%s)", name.ptr).ptr;
    return make(rules, module_handler(rules->module, name.ptr), missing, arena);
}

static const struct action *make_own(const struct action *rules, enum method method, struct arena *arena)
{
    const cg_module *hooks = &rules->module->hooks;
    cg_handler *handler = own_handler(hooks, method);
    if (handler == NULL && method == METHOD_HEAD)
        handler = hooks->get;
    if (handler == NULL)
        handler = hooks->handle;
    return make(rules, handler, arena_printf(arena, "handler for %s", method_name(method)).ptr, arena);
}

void route_add_setting(struct route *route, const struct route_setting *setting,
                       const struct settings *settings, const struct module *module, struct arena *arena)
{
    const struct action *rules = action_create(settings, setting, module, arena);
    const struct socket_rules *socket = make_socket_rules(settings, setting, arena);
    bool named = setting->handler.len > 0;
    if (setting->is_socket) {
        route->socket = make_socket(rules, socket, arena);
        return;
    }
    if (setting->methods == 0 && named)
        route->actions[METHOD_COUNT] = make_named(rules, setting->handler, arena);
    else if (setting->methods == 0)
        add_all(route, rules, socket, arena);
    for (int method = 0; method < METHOD_COUNT; method++)
        if (setting->methods & (1u << method))
            route->actions[method] =
                named ? make_named(rules, setting->handler, arena) : make_own(rules, method, arena);
}

void route_add_module(struct route *route, const struct settings *settings, const struct module *module,
                      struct arena *arena)
{
    add_all(route, action_create(settings, NULL, module, arena), make_socket_rules(settings, NULL, arena),
            arena);
}

/* HEAD is asked of the function that answers GET, by its own handler for it when it has one. */
static const struct action *head_action(const struct action *get, struct arena *arena)
{
    const cg_module *hooks = &get->module->hooks;
    if (hooks->head == NULL || (get->handler != hooks->get && get->handler != hooks->handle))
        return get;
    return make(get, hooks->head, "", arena);
}

void route_complete(struct route *route, struct arena *arena)
{
    const struct action **actions = route->actions, *any = actions[METHOD_COUNT];
    if (actions[METHOD_HEAD] == NULL && actions[METHOD_GET] != NULL)
        actions[METHOD_HEAD] = head_action(actions[METHOD_GET], arena);
    for (int method = 0; method < METHOD_COUNT; method++)
        if (actions[method] == NULL && method != METHOD_OPTIONS)
            actions[method] = any;
    size_t len = 0;
    for (int method = 0; method < METHOD_COUNT; method++)
        if (actions[method] != NULL || method == METHOD_OPTIONS)
            len += (size_t)snprintf(route->allow + len, sizeof route->allow - len, "%s%s", len ? ", " : "",
                                    method_name(method));
}
