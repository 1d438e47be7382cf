#include "config/yaml.h"

#include "base/map.h"

#include <string.h>
#include <yaml.h>

struct builder {
    yaml_parser_t parser;
    cg_str text;
    const char *file;
    struct arena *arena;
    struct problems *problems;
    struct map anchors; /* name -> complete node */
    size_t nodes;
    bool failed; /* and told */
};

static struct node *build(struct builder *builder, yaml_event_t *event, int depth);

bool node_is_null(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0 ||
            strcmp(node->text, "Null") == 0 || strcmp(node->text, "NULL") == 0);
}

const char *node_kind_name(const struct node *node)
{
    static const char *const names[] = {
        [NODE_SCALAR] = "a single value", [NODE_LIST] = "a list", [NODE_MAP] = "a map"};
    return names[node->kind];
}

const struct node *node_find(const struct node *map, const char *key)
{
    for (const struct node *item = map->items; item != NULL; item = item->next)
        if (strcmp(item->key, key) == 0)
            return item;
    return NULL;
}

static int line_of(yaml_mark_t mark)
{
    return (int)mark.line + 1; /* the size is bounded */
}

static void fail(struct builder *builder, int line, const char *what)
{
    if (!builder->failed)
        problems_add(builder->problems, "%s:%d: %s", builder->file, line, what);
    builder->failed = true;
}

static void fail_in_parser(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    int line = line_of(parser->problem_mark);
    if (parser->error == YAML_READER_ERROR) { /* knows only the byte */
        line = 1;
        for (size_t i = 0; i < parser->problem_offset && i < builder->text.len; i++)
            line += builder->text.ptr[i] == '\n';
    }
    fail(builder, line, parser->problem != NULL ? parser->problem : "no valid YAML");
}

static bool next_event(struct builder *builder, yaml_event_t *event)
{
    if (builder->failed)
        return false;
    if (yaml_parser_parse(&builder->parser, event))
        return true;
    fail_in_parser(builder);
    return false;
}

static struct node *new_node(struct builder *builder, enum node_kind kind, int line)
{
    if (++builder->nodes > YAML_NODES_MAX) {
        fail(builder, line, "too many values");
        return NULL;
    }
    struct node *node = arena_zalloc(builder->arena, sizeof *node);
    node->kind = kind;
    node->line = line;
    return node;
}

static struct node *build_scalar(struct builder *builder, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    struct node *node = new_node(builder, NODE_SCALAR, line_of(event->start_mark));
    if (node == NULL)
        return NULL;
    if (memchr(value, '\0', len) != NULL) {
        fail(builder, node->line, "a NUL byte in a string");
        return NULL;
    }
    node->text = arena_copy(builder->arena, value, len).ptr;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return node;
}

static struct node *build_list(struct builder *builder, const yaml_event_t *start, int depth)
{
    yaml_event_t event;
    struct node *list = new_node(builder, NODE_LIST, line_of(start->start_mark));
    struct node **tail = list != NULL ? &list->items : NULL;
    while (tail != NULL && next_event(builder, &event)) {
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return list;
        }
        struct node *item = build(builder, &event, depth + 1);
        if (item == NULL)
            return NULL;
        *tail = item;
        tail = &item->next;
    }
    return NULL;
}

static bool take_key(struct builder *builder, yaml_event_t *event, struct node *ret_key)
{
    int line = line_of(event->start_mark);
    if (event->type != YAML_SCALAR_EVENT || event->data.scalar.anchor != NULL) {
        yaml_event_delete(event);
        fail(builder, line, "a key must be a plain word or a string");
        return false;
    }
    struct node *key = build(builder, event, 0);
    if (key == NULL)
        return false;
    if (!key->quoted && strcmp(key->text, "<<") == 0) {
        fail(builder, line, "merge keys ('<<') are not supported");
        return false;
    }
    *ret_key = *key;
    return true;
}

/* libyaml does not notice duplicates. */
static bool is_new_key(struct builder *builder, struct map *keys, struct node *value)
{
    if (map_add(keys, value->key, strlen(value->key), value) == 0)
        return true;
    const struct node *first = map_get(keys, value->key, strlen(value->key));
    problems_add(builder->problems, "%s:%d: duplicate key '%s', first in line %d", builder->file,
                 value->key_line, value->key, first->key_line);
    return false;
}

static struct node *build_map(struct builder *builder, const yaml_event_t *start, int depth)
{
    yaml_event_t event;
    struct map keys = {0};
    struct node key, *map = new_node(builder, NODE_MAP, line_of(start->start_mark)), *result = NULL;
    struct node **tail = map != NULL ? &map->items : NULL;
    while (tail != NULL && next_event(builder, &event)) {
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            result = map;
            break;
        }
        if (!take_key(builder, &event, &key) || !next_event(builder, &event))
            break;
        struct node *value = build(builder, &event, depth + 1);
        if (value == NULL)
            break;
        value->key = key.text;
        value->key_line = key.line;
        if (is_new_key(builder, &keys, value)) {
            *tail = value;
            tail = &value->next;
        }
    }
    map_finish(&keys);
    return result;
}

/* Counts what it copies, so a few lines can't become a billion nodes. */
static struct node *copy(struct builder *builder, const struct node *node, int depth)
{
    if (depth > YAML_DEPTH_MAX) {
        fail(builder, node->line, "nested too deeply");
        return NULL;
    }
    struct node *twin = new_node(builder, node->kind, node->line);
    if (twin == NULL)
        return NULL;
    struct node **tail = &twin->items;
    twin->text = node->text;
    twin->quoted = node->quoted;
    for (const struct node *item = node->items; item != NULL; item = item->next) {
        if ((*tail = copy(builder, item, depth + 1)) == NULL)
            return NULL;
        (*tail)->key = item->key;
        (*tail)->key_line = item->key_line;
        tail = &(*tail)->next;
    }
    return twin;
}

static struct node *build_alias(struct builder *builder, const yaml_event_t *event, int depth)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct node *node = map_get(&builder->anchors, name, strlen(name));
    if (node == NULL) {
        fail(builder, line_of(event->start_mark), "an alias of something that is not complete above it");
        return NULL;
    }
    return copy(builder, node, depth);
}

static bool set_anchor(struct builder *builder, const yaml_char_t *anchor, struct node *node)
{
    if (anchor == NULL)
        return true;
    cg_str name = arena_copy(builder->arena, anchor, strlen((const char *)anchor));
    if (map_add(&builder->anchors, name.ptr, name.len, node) == 0)
        return true;
    fail(builder, node->line, "an anchor whose name is taken");
    return false;
}

/* Takes the event over. */
static struct node *build(struct builder *builder, yaml_event_t *event, int depth)
{
    struct node *node = NULL;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (depth > YAML_DEPTH_MAX) {
        fail(builder, line_of(event->start_mark), "nested too deeply");
    } else if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        node = build_scalar(builder, event);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        node = build_list(builder, event, depth);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        node = build_map(builder, event, depth);
    } else if (event->type == YAML_ALIAS_EVENT) {
        node = build_alias(builder, event, depth);
    } else {
        fail(builder, line_of(event->start_mark), "no value where one is expected");
    }
    if (node != NULL && tag != NULL) {
        fail(builder, node->line, "tags ('!') are not supported");
        node = NULL;
    }
    if (node != NULL && !set_anchor(builder, anchor, node))
        node = NULL;
    yaml_event_delete(event);
    return node;
}

static struct node *build_document(struct builder *builder)
{
    yaml_event_t event;
    struct node *root = NULL;
    for (bool seen = false; next_event(builder, &event);) {
        int line = line_of(event.start_mark);
        yaml_event_type_t type = event.type;
        if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
            type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
            root = build(builder, &event, 0);
            continue;
        }
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return root;
        if (type == YAML_DOCUMENT_START_EVENT && seen)
            fail(builder, line, "a second document ('---')");
        seen = seen || type == YAML_DOCUMENT_START_EVENT;
    }
    return NULL;
}

struct node *yaml_parse(cg_str text, const char *file, struct arena *arena, struct problems *problems)
{
    struct builder builder = {.file = file, .arena = arena, .problems = problems};
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
        text = cg_bytes(text.ptr + 3, text.len - 3);
    if (text.len > YAML_SIZE_MAX) {
        problems_add(problems, "%s: larger than %zu bytes", file, YAML_SIZE_MAX);
        return NULL;
    }
    builder.text = text.len > 0 ? text : cg_bytes("", 0);
    if (!yaml_parser_initialize(&builder.parser)) {
        problems_add(problems, "%s: out of memory", file);
        return NULL;
    }
    /* Without this a byte order mark could switch to UTF-16. */
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)builder.text.ptr, text.len);
    struct node *root = build_document(&builder);
    yaml_parser_delete(&builder.parser);
    map_finish(&builder.anchors);
    return root != NULL && !node_is_null(root) ? root : NULL;
}
