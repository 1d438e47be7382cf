#include "config/file.h"

#include "config/expand.h"
#include "config/files.h"
#include "config/items.h"
#include "config/json.h"
#include "config/keys.h"
#include "config/routes.h"
#include "config/values.h"

#include <string.h>

static void take_api_key(struct draft *draft, const struct node *item)
{
    if (node_is_null(item))
        return;
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    if (strncmp(text, "$argon2", 7) == 0 || strncmp(text, "$7$", 3) == 0) {
        draft_complain(draft, item->line, "APIKEY: a hash instead of the key is not in this version yet");
        return;
    }
    draft->settings->api_key = cg_bytes(text, strlen(text));
    draft->settings->api_key_origin = item_origin(draft, item);
}

/* Old files have it, so they must load. */
static void take_cache_duration(struct draft *draft, const struct node *item)
{
    int64_t ms;
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    if (value_duration(text, 0, INT64_MAX, &ms) < 0)
        draft_complain(draft, item->line, "%s: '%.100s' is no duration in ms", item->key, text);
    else
        draft_warn(draft, "%s: %s has no effect in this version yet", item_origin(draft, item), item->key);
}

static void take_global(struct draft *draft, const struct node *section)
{
    if (!item_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "APIKEY") == 0)
            take_api_key(draft, item);
        else if (strcmp(item->key, "cacheDurationForStatic") == 0)
            item_offer(draft, item, &options[OPTION_STATIC_REFRESH]);
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
        item_offer(draft, section, folder);
        return;
    }
    if (!item_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "folder") == 0) {
            item_offer(draft, item, folder);
        } else if (strcmp(item->key, "autoMount") == 0) {
            draft->auto_mount_given = true;
            draft->settings->auto_mount_origin = item_origin(draft, item);
            (void)item_bool(draft, item, &draft->settings->auto_mount);
        } else if (!key_is_ignored(item->key)) {
            key_complain(draft, LEVEL_FUNCTIONS, item);
        }
    }
}

static void take_top(struct draft *draft, const struct node *item)
{
    const struct option *option = option_of_key(item->key);
    if (key_is_ignored(item->key))
        return;
    if (strcmp(item->key, "global") == 0)
        take_global(draft, item);
    else if (strcmp(item->key, "REST") == 0)
        routes_take(draft, item, false);
    else if (strcmp(item->key, "WEBSOCKET") == 0)
        routes_take(draft, item, true);
    else if (strcmp(item->key, "functions") == 0)
        take_functions(draft, item);
    else if (strcmp(item->key, "static") == 0)
        files_take(draft, item);
    else if (option == &options[OPTION_CONFIG])
        draft_complain(draft, item->key_line, "'%s' names this very file; give it as a flag or variable",
                       item->key);
    else if (option != NULL)
        item_offer(draft, item, option);
    else
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
