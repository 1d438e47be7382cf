/* Patterns with `:name` segments as a tree of segments. Built once, then only read. */
#ifndef APP_TRIE_H
#define APP_TRIE_H

#include "base/arena.h"

#include <cloudgate.h>

/* Zeroed is empty and valid; memory belongs to the arena given to trie_add, except for what trie_finish
   frees. */
struct trie {
    struct trie_node *root;
};

/* value must not be NULL. Of patterns of the same shape (/u/:id, /u/:name) the last one counts. */
void trie_add(struct trie *trie, struct arena *arena, cg_str pattern, void *value);
/* The segments of path that parameters took are written to values, in order: the caller has room for as many
   as the longest pattern has. NULL when there is none. Looks at no node twice. */
void *trie_find(const struct trie *trie, cg_str path, cg_str *values);
void trie_finish(struct trie *trie);

/* Cuts the first segment, without its slash, off path, which begins with '/'. */
cg_str trie_next_segment(cg_str *path);

#endif
