#include "config/files.h"

#include "config/items.h"
#include "config/keys.h"
#include "parse/field.h"

#include <string.h>

/* A pattern with a slash at its front is for whole paths, one with a '*' there for their ends: anything else
   would never match. */
static void take_rule(struct draft *draft, struct cache_rule *rule, const struct node *item)
{
    const char *value = item_scalar(draft, item);
    if (item->key[0] != '/' && item->key[0] != '*')
        draft_complain(draft, item->key_line, "cacheControl: the pattern '%.100s' must begin with '/' or '*'",
                       item->key);
    if (value != NULL && (value[0] == '\0' || !field_value_valid(cg_bytes(value, strlen(value)))))
        draft_complain(draft, item->line, "cacheControl: '%.100s' can't be the value of a header", value);
    *rule = (struct cache_rule){item->key, value};
}

static void take_rules(struct draft *draft, const struct node *section)
{
    struct settings *settings = draft->settings;
    size_t count = 0;
    if (!item_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next)
        count++;
    struct cache_rule *rules = arena_zalloc(&settings->arena, (count + 1) * sizeof *rules);
    for (const struct node *item = section->items; item != NULL; item = item->next)
        take_rule(draft, &rules[settings->cache_rule_count++], item);
    settings->cache_rules = rules;
}

void files_take(struct draft *draft, const struct node *section)
{
    if (!item_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "cacheControl") == 0)
            take_rules(draft, item);
        else if (strcmp(item->key, "expires") == 0)
            draft_complain(
                draft, item->key_line,
                "'expires' is not sent: a max-age in cacheControl says the same, and goes before it");
        else if (!key_is_ignored(item->key))
            key_complain(draft, LEVEL_STATIC, item);
    }
}
