#include "config/items.h"

#include "config/values.h"

bool item_is_map(struct draft *draft, const struct node *item)
{
    if (item->kind == NODE_MAP || node_is_null(item))
        return true;
    draft_complain(draft, item->line, "'%.100s' must be a map, not %s", item->key, node_kind_name(item));
    return false;
}

const char *item_scalar(struct draft *draft, const struct node *item)
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

bool item_bool(struct draft *draft, const struct node *item, bool *ret_on)
{
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return false;
    if (value_bool(text, ret_on) == 0)
        return true;
    draft_complain(draft, item->line, "%s: '%.100s' is neither true nor false", item->key, text);
    return false;
}

const char *item_origin(struct draft *draft, const struct node *item)
{
    return arena_printf(&draft->settings->arena, "%s:%d", draft->file_name, item->key_line).ptr;
}

void item_offer(struct draft *draft, const struct node *item, const struct option *option)
{
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    const char *origin = item_origin(draft, item);
    const char *subject =
        arena_printf(&draft->settings->arena, "%s:%d: %s", draft->file_name, item->line, item->key).ptr;
    if (draft->offers[LAYER_FILE][option - options].origin != NULL) /* by its old name */
        problems_add(&draft->problems, "%s: given twice, first in %s", subject,
                     draft->offers[LAYER_FILE][option - options].origin);
    else
        draft_offer(draft, LAYER_FILE, option, text, draft->settings->root, origin, subject);
}
