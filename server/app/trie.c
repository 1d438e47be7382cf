#include "app/trie.h"

#include "base/map.h"

/* The tree is as deep as the longest pattern, and so is the recursion below; both come from the settings. */
struct trie_node {
    struct map literals;         /* segment to struct trie_node */
    struct trie_node *parameter; /* any segment that is not empty */
    void *value;
    struct trie_node *children, *next; /* the nodes in literals, as a list */
};

cg_str trie_next_segment(cg_str *path)
{
    const char *start = path->ptr + 1, *end = path->ptr + path->len;
    const char *slash = memchr(start, '/', (size_t)(end - start));
    if (slash == NULL)
        slash = end;
    *path = cg_bytes(slash, (size_t)(end - slash));
    return cg_bytes(start, (size_t)(slash - start));
}

static struct trie_node *child_for(struct trie_node *node, struct arena *arena, cg_str segment)
{
    if (segment.len > 1 && segment.ptr[0] == ':') {
        if (node->parameter == NULL)
            node->parameter = arena_zalloc(arena, sizeof *node);
        return node->parameter;
    }
    struct trie_node *child = map_get(&node->literals, segment.ptr, segment.len);
    if (child == NULL) {
        child = arena_zalloc(arena, sizeof *child);
        child->next = node->children;
        node->children = child;
        segment = arena_copy(arena, segment.ptr, segment.len);
        (void)map_add(&node->literals, segment.ptr, segment.len, child);
    }
    return child;
}

void trie_add(struct trie *trie, struct arena *arena, cg_str pattern, void *value)
{
    if (trie->root == NULL)
        trie->root = arena_zalloc(arena, sizeof *trie->root);
    struct trie_node *node = trie->root;
    while (pattern.len > 0)
        node = child_for(node, arena, trie_next_segment(&pattern));
    node->value = value;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void *find(const struct trie_node *node, cg_str path, cg_str *values)
{
    if (path.len == 0)
        return node->value;
    cg_str segment = trie_next_segment(&path);
    const struct trie_node *child = map_get(&node->literals, segment.ptr, segment.len);
    void *value = child ? find(child, path, values) : NULL;
    if (value != NULL || node->parameter == NULL || segment.len == 0)
        return value;
    *values = segment;
    return find(node->parameter, path, values + 1);
}

void *trie_find(const struct trie *trie, cg_str path, cg_str *values)
{
    return trie->root && path.len > 0 && path.ptr[0] == '/' ? find(trie->root, path, values) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void finish(struct trie_node *node)
{
    if (node == NULL)
        return;
    map_finish(&node->literals);
    finish(node->parameter);
    for (struct trie_node *child = node->children; child != NULL; child = child->next)
        finish(child);
}

void trie_finish(struct trie *trie)
{
    if (trie == NULL)
        return;
    finish(trie->root);
    trie->root = NULL;
}
