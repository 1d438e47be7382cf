/* A YAML document as a small tree that knows its line numbers. A subset, on purpose: one document, no tags,
   no merge keys, keys are scalars and unique in their map, no NUL in a string. Bounded in every direction,
   what aliases repeat included. */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "base/arena.h"
#include "config/problems.h"

#include <stdbool.h>
#include <stddef.h>

#define YAML_SIZE_MAX ((size_t)1 << 20)
#define YAML_DEPTH_MAX 32
#define YAML_NODES_MAX 100000

enum node_kind {
    NODE_SCALAR,
    NODE_LIST,
    NODE_MAP,
};

struct node {
    enum node_kind kind;
    int line;
    const char *key; /* in the map that holds it; else NULL */
    int key_line;
    const char *text;          /* of a scalar */
    bool quoted;               /* a scalar in quotes, or a block */
    struct node *items, *next; /* of a list or map, in the order of the file */
};

/* Nothing, `null` or `~`: a value that was left out. */
bool node_is_null(const struct node *node);

/* "a list", for messages. */
const char *node_kind_name(const struct node *node);

/* The value of that key of a map, or NULL. */
const struct node *node_find(const struct node *map, const char *key);

/* The tree is the arena's; NULL for an empty document. What is wrong is told, a duplicate key with both its
   lines, and the tree is then not to be trusted. file is how messages call the text. */
struct node *yaml_parse(cg_str text, const char *file, struct arena *arena, struct problems *problems);

#endif
