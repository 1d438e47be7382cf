#include "app/router.h"

#include "app/site_path.h"
#include "app/trie.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct route route;
    cg_str names[ROUTE_PARAMS_MAX]; /* of its parameters, in order */
    size_t name_count;
};

struct router {
    struct arena arena;
    struct map literals; /* pattern to struct entry */
    struct trie parametric;
    struct entry **entries;
    size_t count;
};

static struct entry *add_entry(struct router *router, cg_str pattern)
{
    struct entry *entry = arena_zalloc(&router->arena, sizeof *entry);
    entry->route.pattern = pattern;
    router->entries[router->count++] = entry;
    return entry;
}

static void add_literal(struct router *router, struct entry *entry)
{
    (void)map_add(&router->literals, entry->route.pattern.ptr, entry->route.pattern.len, entry);
}

/* Takes the names out of the pattern: copies, because functions see them, terminated. */
static void read_names(struct entry *entry, struct arena *arena)
{
    cg_str pattern = entry->route.pattern;
    while (pattern.len > 0) {
        cg_str segment = trie_next_segment(&pattern);
        if (segment.len > 1 && segment.ptr[0] == ':')
            entry->names[entry->name_count++] = arena_copy(arena, segment.ptr + 1, segment.len - 1);
    }
}

/* A WebSocket and a function may share a pattern. */
static struct entry *find_entry(const struct router *router, cg_str pattern)
{
    for (size_t i = 0; i < router->count; i++)
        if (str_equal(router->entries[i]->route.pattern, pattern))
            return router->entries[i];
    return NULL;
}

static struct entry *add_route(struct router *router, cg_str pattern)
{
    struct entry *entry = add_entry(router, pattern);
    read_names(entry, &router->arena);
    if (entry->name_count > 0)
        trie_add(&router->parametric, &router->arena, pattern, entry);
    else
        add_literal(router, entry);
    return entry;
}

static void add_setting(struct router *router, const struct settings *settings,
                        const struct route_setting *setting, const struct modules *modules)
{
    struct entry *entry = find_entry(router, setting->pattern);
    if (entry == NULL)
        entry = add_route(router, setting->pattern);
    const struct module *module = modules_find(modules, setting->path);
    route_add_setting(&entry->route, setting, settings, module, &router->arena);
}

static bool is_routed(const struct settings *settings, const struct module *module)
{
    for (size_t i = 0; i < settings->route_count; i++)
        if (strcmp(settings->routes[i].path.ptr, module->name) == 0)
            return true;
    return false;
}

/* The name is taken as it is: a colon in it makes no parameter. */
static void mount(struct router *router, const struct settings *settings, const struct module *module)
{
    cg_str pattern = site_path(&router->arena, "/api/", module->name);
    if (map_get(&router->literals, pattern.ptr, pattern.len) != NULL)
        return;
    struct entry *entry = add_entry(router, pattern);
    add_literal(router, entry);
    route_add_module(&entry->route, settings, module, &router->arena);
}

struct router *router_create(const struct settings *settings, const struct modules *modules)
{
    struct router *router = xzalloc(sizeof *router);
    router->entries = xzalloc((settings->route_count + modules->count + 1) * sizeof *router->entries);
    for (size_t i = 0; i < settings->route_count; i++)
        add_setting(router, settings, &settings->routes[i], modules);
    for (size_t i = 0; settings->auto_mount && i < modules->count; i++)
        if (!is_routed(settings, modules->items[i]))
            mount(router, settings, modules->items[i]);
    for (size_t i = 0; i < router->count; i++)
        route_complete(&router->entries[i]->route, &router->arena);
    return router;
}

void router_destroy(struct router *router)
{
    if (router == NULL)
        return;
    trie_finish(&router->parametric);
    map_finish(&router->literals);
    free(router->entries);
    arena_finish(&router->arena);
    free(router);
}

bool router_find(const struct router *router, cg_str path, struct match *ret_match)
{
    cg_str values[ROUTE_PARAMS_MAX];
    const struct entry *entry = map_get(&router->literals, path.ptr, path.len);
    ret_match->count = 0;
    if (entry == NULL) {
        entry = trie_find(&router->parametric, path, values);
        if (entry == NULL)
            return false;
        for (size_t i = 0; i < entry->name_count; i++)
            ret_match->params[i] = (cg_field){entry->names[i], values[i]};
        ret_match->count = entry->name_count;
    }
    ret_match->route = &entry->route;
    return true;
}

size_t router_count(const struct router *router)
{
    return router->count;
}

const struct route *router_route(const struct router *router, size_t index)
{
    return &router->entries[index]->route;
}

static size_t tell_route(const struct route *route, struct buffer *text, void (*tell)(const char *text))
{
    const char *told = NULL;
    size_t count = 0;
    for (size_t k = 0; k <= METHOD_COUNT + 1; k++) {
        const struct action *action = k <= METHOD_COUNT ? route->actions[k] : route->socket;
        if (action == NULL || action->unavailable == NULL || action->module->error != NULL ||
            action->unavailable == told)
            continue;
        told = action->unavailable;
        text->len = 0;
        buffer_printf(text, "%s: %s", route->pattern.ptr, told);
        tell(text->data);
        count++;
    }
    return count;
}

size_t router_tell_problems(const struct router *router, const struct modules *modules,
                            void (*tell)(const char *text))
{
    struct buffer text = {0};
    size_t count = 0;
    for (size_t i = 0; i < modules->count; i++) {
        if (modules->items[i]->error == NULL)
            continue;
        tell(modules->items[i]->error);
        count++;
    }
    for (size_t i = 0; i < router->count; i++)
        count += tell_route(&router->entries[i]->route, &text, tell);
    buffer_finish(&text);
    return count;
}
