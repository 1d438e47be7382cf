#include "config/expand.h"

#include "config/keys.h"

#include <ctype.h>
#include <string.h>

#define EXPANDED_MAX ((size_t)64 << 10) /* bytes of a value */

static size_t name_length(const char *p)
{
    size_t len = 0;
    while (isalnum((unsigned char)p[len]) || p[len] == '_')
        len++;
    return isdigit((unsigned char)p[0]) ? 0 : len;
}

/* At "${"; NULL when something is wrong, and told. */
static const char *expand_one(struct draft *draft, int line, const char *p, struct buffer *out)
{
    size_t len = name_length(p + 2);
    const char *behind = p + 2 + len, *close = strchr(behind, '}');
    bool has_default = strncmp(behind, ":-", 2) == 0;
    if (len == 0 || close == NULL || (!has_default && close != behind)) {
        draft_complain(draft, line, "'%.40s' is no ${NAME} or ${NAME:-default} (write $${ for a plain ${)",
                       p);
        return NULL;
    }
    const char *name = arena_copy(&draft->settings->arena, p + 2, len).ptr;
    const char *value = draft_variable(draft, name);
    if (value != NULL) {
        buffer_text(out, value);
    } else if (has_default) {
        buffer_append(out, behind + 2, (size_t)(close - behind) - 2);
    } else {
        draft_complain(draft, line, "variable %s is not set, neither in the environment nor in .env", name);
        return NULL;
    }
    if (out->len > EXPANDED_MAX) {
        draft_complain(draft, line, "a value of more than %zu bytes, with %s in it", EXPANDED_MAX, name);
        return NULL;
    }
    return close + 1;
}

static void expand_scalar(struct draft *draft, struct node *node)
{
    struct buffer out = {0};
    const char *p = node->text;
    while (p != NULL && *p != '\0') {
        size_t plain = strcspn(p, "$");
        buffer_append(&out, p, plain);
        p += plain;
        if (strncmp(p, "$${", 3) == 0) {
            buffer_text(&out, "${");
            p += 3;
        } else if (strncmp(p, "${", 2) == 0) {
            p = expand_one(draft, node->line, p, &out);
        } else if (*p == '$') {
            buffer_append(&out, p++, 1);
        }
    }
    node->text = arena_copy(&draft->settings->arena, out.data, out.len).ptr;
    node->quoted = true; /* whatever came out is a string, "null" too */
    buffer_finish(&out);
}

void expand_tree(struct draft *draft, struct node *node)
{
    if (node->key != NULL && key_is_ignored(node->key))
        return;
    if (node->kind == NODE_SCALAR && strstr(node->text, "${") != NULL)
        expand_scalar(draft, node);
    for (struct node *item = node->items; item != NULL; item = item->next)
        expand_tree(draft, item);
}
