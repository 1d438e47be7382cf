#include "config/load.h"

#include "base/file.h"
#include "config/draft.h"
#include "config/file.h"
#include "config/flags.h"
#include "config/keys.h"
#include "config/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool find_root(struct draft *draft, const char *dir)
{
    char *real = realpath(dir != NULL ? dir : ".", NULL);
    struct stat status;
    if (real == NULL || stat(real, &status) < 0) {
        problems_add(&draft->problems, "%s: %s", dir != NULL ? dir : "the current folder", strerror(errno));
        free(real);
        return false;
    }
    if (!S_ISDIR(status.st_mode))
        problems_add(&draft->problems, "%s: is no folder", dir);
    draft->settings->root = arena_copy(&draft->settings->arena, real, strlen(real)).ptr;
    draft->settings->root_origin = dir != NULL ? "as asked for" : "default";
    free(real);
    return S_ISDIR(status.st_mode);
}

static void read_dotenv(struct draft *draft)
{
    struct arena *arena = &draft->settings->arena;
    char *text = NULL;
    struct stat status;
    const char *path = arena_printf(arena, "%s/.env", draft->settings->root).ptr;
    int rc = file_read(path, YAML_SIZE_MAX, &text, &status);
    if (rc == -ENOENT || rc == -ENOTSUP) /* Python keeps a folder of that name */
        return;
    if (rc < 0)
        problems_add(&draft->problems, "%s: %s", path, strerror(-rc));
    else
        env_parse(text, (size_t)status.st_size, path, arena, &draft->problems, &draft->env);
    free(text);
    for (int i = 0; i < 2 * OPTION_COUNT; i++) {
        const struct option *option = &options[i / 2];
        const char *name = i % 2 == 0 ? option->name : arena_printf(arena, "CLOUDGATE_%s", option->name).ptr;
        const struct variable *variable = env_find(&draft->env, name);
        if (variable == NULL)
            continue;
        const char *origin = arena_printf(arena, "%s:%d", path, variable->line).ptr;
        draft_offer(draft, LAYER_DOTENV, option, variable->value, draft->settings->root, origin,
                    arena_printf(arena, "%s: %s", origin, name).ptr);
    }
}

static void read_environment(struct draft *draft, const char *base)
{
    struct arena *arena = &draft->settings->arena;
    for (int i = 0; i < 2 * OPTION_COUNT; i++) {
        const struct option *option = &options[i / 2];
        /* The second, when it is set, replaces the first. */
        const char *name = i % 2 == 0 ? option->name : arena_printf(arena, "CLOUDGATE_%s", option->name).ptr;
        const char *value = getenv(name);
        if (value == NULL || value[0] == '\0')
            continue;
        const char *origin = arena_printf(arena, "%s in the environment", name).ptr;
        draft_offer(draft, LAYER_ENVIRONMENT, option, arena_copy(arena, value, strlen(value)).ptr, base,
                    origin, origin);
    }
}

/* Where nobody names one. NULL: there is none, or (told) more than one. */
static const char *find_file(struct draft *draft)
{
    static const char *const names[] = {"apiconfig.yaml", "apiconfig.yml", "apiconfig.json"};
    const char *root = draft->settings->root, *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = arena_printf(&draft->settings->arena, "%s/%s", root, names[i]).ptr;
        if (access(path, F_OK) < 0 && errno == ENOENT)
            continue;
        if (found != NULL)
            problems_add(&draft->problems, "%s: beside %s; one of them has to go", path,
                         strrchr(found, '/') + 1);
        else
            found = path;
    }
    return found;
}

static bool is_json(const char *path)
{
    size_t len = strlen(path);
    return len > 5 && strcasecmp(path + len - 5, ".json") == 0;
}

/* In messages a file of the app's own folder goes by its name alone. */
static const char *shown(const char *path, const char *root)
{
    size_t len = strlen(root);
    bool inside = strncmp(path, root, len) == 0 && path[len] == '/' && strchr(path + len + 1, '/') == NULL;
    return inside ? path + len + 1 : path;
}

static void read_config(struct draft *draft)
{
    const struct offer *offer = draft_best(draft, OPTION_CONFIG);
    const char *path = offer != NULL ? offer->value.text : find_file(draft);
    char *text = NULL;
    struct stat status;
    if (path == NULL)
        return;
    draft->file_name = shown(path, draft->settings->root);
    int rc = file_read(path, YAML_SIZE_MAX, &text, &status);
    if (rc == -ENOTSUP)
        problems_add(&draft->problems, "%s: is no regular file", draft->file_name);
    else if (rc < 0)
        problems_add(&draft->problems, "%s: %s", draft->file_name, strerror(-rc));
    else
        file_parse(draft, cg_bytes(text, (size_t)status.st_size), is_json(path));
    free(text);
    if (offer == NULL) {
        struct offer *found = &draft->offers[LAYER_FILE][OPTION_CONFIG];
        *found = (struct offer){.origin = "found there", .value.text = path};
    }
}

int settings_load(int argc, char *const argv[], struct settings **ret_settings, char **ret_error)
{
    struct draft draft;
    const char *dir = NULL;
    char *here = getcwd(NULL, 0);
    draft_init(&draft);
    flags_parse(&draft, argc, argv, here != NULL ? here : ".", &dir);
    read_environment(&draft, here != NULL ? here : ".");
    if (find_root(&draft, dir)) {
        read_dotenv(&draft);
        key_warn_variables(&draft);
        read_config(&draft);
    }
    free(here);
    return draft_finish(&draft, ret_settings, ret_error);
}
