#include "app/router.h"

#include "app/action.h"
#include "app/site_path.h"
#include "app/trie.h"
#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* What is known while the router is made. */
struct entry {
    struct route route;
    cg_str names[ROUTE_MAX_PARAMS]; /* of its parameters, in order */
    size_t name_count;
    int line; /* of its first setting */
};

struct router {
    struct arena arena;
    struct map literals; /* pattern to struct entry */
    struct trie parametric;
    struct entry **entries;
    size_t count;
};

static struct entry *add_entry(struct router *router, cg_str pattern, int line)
{
    struct entry *entry = arena_zalloc(&router->arena, sizeof *entry);
    entry->route.pattern = pattern;
    entry->line = line;
    router->entries[router->count++] = entry;
    return entry;
}

/* Takes the names out of a pattern: copies, because functions see them, terminated. A text that says what is
   wrong with it, or NULL. */
static const char *read_names(struct entry *entry, cg_str pattern, struct arena *arena)
{
    if (pattern.len == 0 || pattern.ptr[0] != '/')
        return "must begin with '/'";
    while (pattern.len > 0) {
        cg_str segment = trie_next_segment(&pattern);
        if (segment.len < 2 || segment.ptr[0] != ':')
            continue;
        if (entry->name_count == ROUTE_MAX_PARAMS)
            return "has too many parameters";
        cg_str name = cg_bytes(segment.ptr + 1, segment.len - 1);
        for (size_t i = 0; i < entry->name_count; i++)
            if (entry->names[i].len == name.len && memcmp(entry->names[i].ptr, name.ptr, name.len) == 0)
                return "names a parameter twice";
        entry->names[entry->name_count++] = arena_copy(arena, name.ptr, name.len);
    }
    return NULL;
}

static char *complaint(const struct settings *settings, int line, cg_str pattern, const char *what)
{
    const char *file = settings->config_file ? settings->config_file : "settings";
    const char *slash = strrchr(file, '/');
    return xsprintf("%s:%d: route %s %s", slash ? slash + 1 : file, line, pattern.ptr, what);
}

/* The entry of a setting's pattern: a new one, or that of an earlier setting. NULL with the reason. */
static struct entry *entry_of(struct router *router, const struct settings *settings,
                              const struct route_setting *setting, char **ret_error)
{
    struct entry *entry = add_entry(router, setting->pattern, setting->line), *other;
    const char *wrong = read_names(entry, setting->pattern, &router->arena);
    if (wrong != NULL) {
        *ret_error = complaint(settings, setting->line, setting->pattern, wrong);
        return NULL;
    }
    if (entry->name_count > 0) {
        other = trie_add(&router->parametric, &router->arena, setting->pattern, entry);
    } else {
        other = map_get(&router->literals, setting->pattern.ptr, setting->pattern.len);
        if (other == NULL)
            (void)map_add(&router->literals, setting->pattern.ptr, setting->pattern.len, entry);
    }
    if (other == NULL)
        return entry;
    router->count--;
    if (strcmp(other->route.pattern.ptr, setting->pattern.ptr) == 0)
        return other;
    char *what = xsprintf("matches the same as %s (line %d)", other->route.pattern.ptr, other->line);
    *ret_error = complaint(settings, setting->line, setting->pattern, what);
    free(what);
    return NULL;
}

static bool add_setting(struct router *router, const struct settings *settings,
                        const struct route_setting *setting, const struct modules *modules, char **ret_error)
{
    const struct module *module = modules_find(modules, setting->path);
    struct entry *entry = entry_of(router, settings, setting, ret_error);
    if (entry == NULL)
        return false;
    const char *claimed = route_add_setting(&entry->route, setting, settings, module, &router->arena);
    if (claimed == NULL)
        return true;
    char *what = xsprintf("has a function for the method %s already (line %d)", claimed, entry->line);
    *ret_error = complaint(settings, setting->line, setting->pattern, what);
    free(what);
    return false;
}

/* Settings that name methods come first: one without takes what they leave. */
static bool add_settings(struct router *router, const struct settings *settings,
                         const struct modules *modules, char **ret_error)
{
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < settings->route_count; i++)
            if ((settings->routes[i].methods == 0) == any &&
                !add_setting(router, settings, &settings->routes[i], modules, ret_error))
                return false;
    return true;
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
    struct entry *entry = add_entry(router, pattern, 0);
    entry->route.mounted = true;
    (void)map_add(&router->literals, pattern.ptr, pattern.len, entry);
    route_add_module(&entry->route, settings, module, &router->arena);
}

static int by_line(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;
    return (left->line > right->line) - (left->line < right->line);
}

struct router *router_create(const struct settings *settings, const struct modules *modules, char **ret_error)
{
    struct router *router = xzalloc(sizeof *router);
    router->entries = xzalloc((settings->route_count + modules->count + 1) * sizeof *router->entries);
    if (!add_settings(router, settings, modules, ret_error)) {
        router_destroy(router);
        return NULL;
    }
    qsort(router->entries, router->count, sizeof *router->entries, by_line);
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
    cg_str values[ROUTE_MAX_PARAMS];
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
