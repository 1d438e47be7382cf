#include "app/modules.h"

#include "app/walk.h"
#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Names of modules, on the way to being loaded. */
struct names {
    char **items;
    size_t count, capacity;
};

static void add_name(struct names *names, const char *name, size_t len)
{
    names->items = xgrow(names->items, names->count, &names->capacity, sizeof *names->items);
    names->items[names->count++] = xstrndup(name, len);
}

static enum walk_result find_object(void *arg, const struct walk_entry *entry)
{
    if (entry->base[0] == '.' || entry->base[0] == '_' || entry->stat == NULL)
        return WALK_SKIP;
    if (S_ISREG(entry->stat->st_mode) && walk_ends_in(entry->base, ".so") &&
        !walk_ends_in(entry->base, "_test.so"))
        add_name(arg, entry->name, strlen(entry->name) - strlen(".so"));
    return WALK_ON;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void load_names(struct names *names, const char *functions_dir, struct modules *modules)
{
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, by_name);
    modules->items = xzalloc((names->count + 1) * sizeof *modules->items);
    for (size_t i = 0; i < names->count; i++)
        if (i == 0 || strcmp(names->items[i], names->items[i - 1]) != 0)
            modules->items[modules->count++] = module_load(functions_dir, names->items[i]);
}

int modules_load(const struct settings *settings, struct modules *ret_modules, char **ret_error)
{
    struct names names = {0};
    int result = walk(settings->functions_dir, find_object, &names);
    if (result == -ENOENT)
        result = 0;
    if (result == 0) {
        for (size_t i = 0; i < settings->route_count; i++)
            add_name(&names, settings->routes[i].path.ptr, settings->routes[i].path.len);
        *ret_modules = (struct modules){0};
        load_names(&names, settings->functions_dir, ret_modules);
    } else {
        *ret_error = xsprintf("%s: %s", settings->functions_dir, strerror(-result));
    }
    for (size_t i = 0; i < names.count; i++)
        free(names.items[i]);
    free(names.items);
    return result;
}

void modules_finish(struct modules *modules)
{
    if (modules == NULL)
        return;
    for (size_t i = 0; i < modules->count; i++)
        module_destroy(modules->items[i]);
    free(modules->items);
    *modules = (struct modules){0};
}

struct module *modules_find(const struct modules *modules, cg_str name)
{
    for (size_t low = 0, high = modules->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        struct module *module = modules->items[middle];
        size_t len = strlen(module->name);
        int order = memcmp(name.ptr, module->name, name.len < len ? name.len : len);
        if (order == 0 && name.len == len)
            return module;
        if (order < 0 || (order == 0 && name.len < len))
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

void modules_start(struct modules *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        (void)module_start(modules->items[i]);
}

void modules_stop(struct modules *modules)
{
    for (size_t i = modules->count; i > 0; i--)
        module_stop(modules->items[i - 1]);
}

static void stop_threads(const struct modules *modules, size_t count)
{
    for (size_t i = count; i > 0; i--)
        if (modules->items[i - 1]->error == NULL)
            module_thread_stop(modules->items[i - 1]);
}

int modules_thread_start(const struct modules *modules, const struct module **ret_failed)
{
    for (size_t i = 0; i < modules->count; i++) {
        if (modules->items[i]->error != NULL)
            continue;
        int result = module_thread_start(modules->items[i]);
        if (result != 0) {
            stop_threads(modules, i);
            *ret_failed = modules->items[i];
            return result;
        }
    }
    return 0;
}

void modules_thread_stop(const struct modules *modules)
{
    stop_threads(modules, modules->count);
}
