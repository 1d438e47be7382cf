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

static void describe_route(const struct settings *settings, const struct route_setting *route,
                           struct buffer *out)
{
    buffer_printf(out, "%s -> %s.so", route->pattern.ptr, route->path.ptr);
    if (route->handler.len > 0)
        buffer_printf(out, " handler %s", route->handler.ptr);
    for (int method = 0; method < METHOD_COUNT; method++)
        if (route->methods & 1u << method)
            buffer_printf(out, " %s", method_name((enum method)method));
    if (route->methods == 0)
        buffer_text(out, " any method");
    if (route->is_private)
        buffer_text(out, ", private");
    for (size_t i = 0; i < route->parameter_count; i++)
        buffer_printf(out, "%s%s", i == 0 ? ", needs " : " ", route->parameters[i].ptr);
    if (route->body_limit != 0) {
        buffer_text(out, ", body up to ");
        value_print_size(out, (int64_t)route->body_limit);
    }
    if (route->blocking)
        buffer_text(out, ", on the pool");
    if (route->timeout != 0) {
        buffer_text(out, ", within ");
        value_print_duration(out, route->timeout);
    }
    if (route->plain)
        buffer_text(out, ", never compressed");
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
