#include "config/describe.h"

#include "base/buffer.h"
#include "config/options.h"
#include "config/values.h"
#include "parse/method.h"

static void describe_option(const struct settings *settings, const struct option *option, struct buffer *out)
{
    const char *origin = settings->origins[option - options];
    buffer_printf(out, "%s = ", option->key);
    if (option == &options[OPTION_PORT] && settings->port < 0)
        buffer_text(out, "none");
    else
        option_print(option, settings, out);
    buffer_printf(out, " (%s)\n", origin);
}

static void describe_list(const char *what, const cg_str *items, size_t count, struct buffer *out)
{
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "%s%s", i == 0 ? what : " ", items[i].ptr);
}

static void describe_duration(const char *what, int64_t ms, struct buffer *out)
{
    if (ms == 0)
        return;
    buffer_text(out, what);
    value_print_duration(out, ms);
}

static void describe_size(const char *what, uint64_t size, struct buffer *out)
{
    if (size == 0)
        return;
    buffer_text(out, what);
    value_print_size(out, (int64_t)size);
}

static void describe_socket(const struct socket_rules *rules, struct buffer *out)
{
    describe_list(", from ", rules->origins, rules->origin_count, out);
    if (rules->any_origin)
        buffer_text(out, ", from any origin");
    describe_list(", speaks ", rules->protocols, rules->protocol_count, out);
    describe_size(", messages up to ", rules->message_limit, out);
    describe_size(", queue up to ", rules->queue_limit, out);
    describe_duration(", ping after ", rules->ping_interval, out);
    describe_duration(", pong within ", rules->pong_timeout, out);
    describe_duration(", idle for ", rules->idle_timeout, out);
    if (rules->takeover)
        buffer_text(out, ", compression with takeover");
    if (rules->drop)
        buffer_text(out, ", slow clients lose messages");
}

static void describe_route(const struct settings *settings, const struct route_setting *route,
                           struct buffer *out)
{
    buffer_printf(out, "%s -> %s.so", route->pattern.ptr, route->path.ptr);
    if (route->handler.len > 0)
        buffer_printf(out, " handler %s", route->handler.ptr);
    for (int method = 0; method < METHOD_COUNT; method++)
        if (route->methods & 1u << method)
            buffer_printf(out, " %s", method_name((enum method)method));
    if (route->is_socket)
        buffer_text(out, " WebSocket");
    else if (route->methods == 0)
        buffer_text(out, " any method");
    if (route->is_private)
        buffer_text(out, ", private");
    describe_list(", needs ", route->parameters, route->parameter_count, out);
    describe_size(", body up to ", route->body_limit, out);
    if (route->blocking)
        buffer_text(out, ", on the pool");
    describe_duration(", within ", route->timeout, out);
    if (route->plain)
        buffer_text(out, ", never compressed");
    describe_socket(&route->socket, out);
    buffer_printf(out, " (%s:%d)\n", settings->file_name, route->line);
}

char *settings_describe(const struct settings *settings)
{
    struct buffer out = {0};
    buffer_printf(&out, "root = %s (%s)\n", settings->root, settings->root_origin);
    for (int id = 0; id < OPTION_COUNT; id++)
        describe_option(settings, &options[id], &out);
    buffer_printf(&out, "global.APIKEY = %s (%s)\n", settings->api_key.len > 0 ? "****" : "none",
                  settings->api_key_origin);
    buffer_printf(&out, "functions.autoMount = %s (%s)\n", settings->auto_mount ? "yes" : "no",
                  settings->auto_mount_origin);
    for (size_t i = 0; i < settings->cache_rule_count; i++)
        buffer_printf(&out, "static.cacheControl %s = %s\n", settings->cache_rules[i].pattern,
                      settings->cache_rules[i].value);
    for (size_t i = 0; i < settings->route_count; i++)
        describe_route(settings, &settings->routes[i], &out);
    return buffer_detach(&out);
}

char *options_describe(void)
{
    struct buffer out = {0};
    for (const struct option *option = options; option < options + OPTION_COUNT; option++) {
        const char *fallback = option->fallback != NULL ? option->fallback : "";
        buffer_printf(&out, "%-16s %-6s %s", option->name, fallback, option->help);
        if (option->letter != '\0')
            buffer_printf(&out, " (-%c)", option->letter);
        if (option->old_name != NULL)
            buffer_printf(&out, " (also --%s)", option->old_name);
        buffer_text(&out, "\n");
    }
    return buffer_detach(&out);
}
