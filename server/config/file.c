#include "config/file.h"

#include "config/expand.h"
#include "config/files.h"
#include "config/json.h"
#include "config/keys.h"
#include "config/routes.h"
#include "config/values.h"

#include <inttypes.h>
#include <string.h>

bool file_is_map(struct draft *draft, const struct node *item)
{
    if (item->kind == NODE_MAP || node_is_null(item))
        return true;
    draft_complain(draft, item->line, "'%.100s' must be a map, not %s", item->key, node_kind_name(item));
    return false;
}

const char *file_scalar(struct draft *draft, const struct node *item)
{
    if (item->kind != NODE_SCALAR)
        draft_complain(draft, item->line, "'%.100s' must be a single value, not %s", item->key,
                       node_kind_name(item));
    else if (node_is_null(item))
        draft_complain(draft, item->key_line, "'%.100s' has no value", item->key);
    else
        return item->text;
    return NULL;
}

bool file_bool(struct draft *draft, const struct node *item, bool *ret_on)
{
    const char *text = file_scalar(draft, item);
    if (text == NULL)
        return false;
    if (value_bool(text, ret_on) == 0)
        return true;
    draft_complain(draft, item->line, "%s: '%.100s' is neither true nor false", item->key, text);
    return false;
}

static const char *origin_of(struct draft *draft, const struct node *item)
{
    return arena_printf(&draft->settings->arena, "%s:%d", draft->file_name, item->key_line).ptr;
}

static void take_option(struct draft *draft, const struct option *option, const struct node *item)
{
    const char *text = file_scalar(draft, item);
    if (text == NULL)
        return;
    const char *origin = origin_of(draft, item);
    const char *subject =
        arena_printf(&draft->settings->arena, "%s:%d: %s", draft->file_name, item->line, item->key).ptr;
    if (draft->offers[LAYER_FILE][option - options].origin != NULL) /* by its old name */
        problems_add(&draft->problems, "%s: given twice, first in %s", subject,
                     draft->offers[LAYER_FILE][option - options].origin);
    else
        draft_offer(draft, LAYER_FILE, option, text, draft->settings->root, origin, subject);
}

static void take_api_key(struct draft *draft, const struct node *item)
{
    if (node_is_null(item))
        return;
    const char *text = file_scalar(draft, item);
    if (text == NULL)
        return;
    if (strncmp(text, "$argon2", 7) == 0 || strncmp(text, "$7$", 3) == 0) {
        draft_complain(draft, item->line, "APIKEY: a hash instead of the key is not in this version yet");
        return;
    }
    draft->settings->api_key = cg_bytes(text, strlen(text));
    draft->settings->api_key_origin = origin_of(draft, item);
}

/* Old files have it, so they must load. */
static void take_cache_duration(struct draft *draft, const struct node *item)
{
    int64_t ms;
    const char *text = file_scalar(draft, item);
    if (text == NULL)
        return;
    if (value_duration(text, 0, INT64_MAX, &ms) < 0)
        draft_complain(draft, item->line, "%s: '%.100s' is no duration in ms", item->key, text);
    else
        draft_warn(draft, "%s: %s has no effect in this version yet", origin_of(draft, item), item->key);
}

static void take_global(struct draft *draft, const struct node *section)
{
    if (!file_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "APIKEY") == 0)
            take_api_key(draft, item);
        else if (strcmp(item->key, "cacheDurationForStatic") == 0)
            files_take_refresh(draft, item);
        else if (strcmp(item->key, "cacheDurationForAPI") == 0)
            take_cache_duration(draft, item);
        else if (!key_is_ignored(item->key))
            key_complain(draft, LEVEL_GLOBAL, item);
    }
}

/* A folder's name, or a map of what is done with it. */
static void take_functions(struct draft *draft, const struct node *section)
{
    const struct option *folder = &options[OPTION_FUNCTIONS];
    if (section->kind == NODE_SCALAR && !node_is_null(section)) {
        take_option(draft, folder, section);
        return;
    }
    if (!file_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "folder") == 0) {
            take_option(draft, folder, item);
        } else if (strcmp(item->key, "autoMount") == 0) {
            draft->auto_mount_given = true;
            draft->settings->auto_mount_origin = origin_of(draft, item);
            (void)file_bool(draft, item, &draft->settings->auto_mount);
        } else if (!key_is_ignored(item->key)) {
            key_complain(draft, LEVEL_FUNCTIONS, item);
        }
    }
}

static bool is_empty(const struct node *node)
{
    return node_is_null(node) || (node->kind == NODE_MAP && node->items == NULL);
}

static void take_top(struct draft *draft, const struct node *item)
{
    const struct option *option = option_of_key(item->key);
    if (key_is_ignored(item->key))
        return;
    if (strcmp(item->key, "global") == 0)
        take_global(draft, item);
    else if (strcmp(item->key, "REST") == 0)
        routes_take(draft, item);
    else if (strcmp(item->key, "functions") == 0)
        take_functions(draft, item);
    else if (strcmp(item->key, "static") == 0)
        files_take(draft, item);
    else if (option == &options[OPTION_CONFIG])
        draft_complain(draft, item->key_line, "'%s' names this very file; give it as a flag or variable",
                       item->key);
    else if (option != NULL)
        take_option(draft, option, item);
    else if (strcmp(item->key, "WEBSOCKET") != 0 || !is_empty(item))
        key_complain(draft, LEVEL_TOP, item);
}

void file_parse(struct draft *draft, cg_str text, bool json)
{
    struct arena *arena = &draft->settings->arena;
    int before = draft->problems.count;
    if (text.len > YAML_SIZE_MAX) { /* before anything is copied */
        problems_add(&draft->problems, "%s: larger than %zu bytes", draft->file_name, YAML_SIZE_MAX);
        return;
    }
    if (json && !json_to_yaml(text, draft->file_name, arena, &draft->problems, &text))
        return;
    struct node *root = yaml_parse(text, draft->file_name, arena, &draft->problems);
    if (root == NULL || (draft->problems.count > before && root->kind != NODE_MAP))
        return;
    if (root->kind != NODE_MAP) {
        draft_complain(draft, root->line, "a map of settings is expected, not %s", node_kind_name(root));
        return;
    }
    expand_tree(draft, root);
    for (const struct node *item = root->items; item != NULL; item = item->next)
        take_top(draft, item);
}

int file_parse_alone(cg_str text, bool json, const char *root, struct settings **ret_settings,
                     char **ret_error)
{
    struct draft draft;
    draft_init(&draft);
    draft.settings->root = root;
    file_parse(&draft, text, json);
    return draft_finish(&draft, ret_settings, ret_error);
}
