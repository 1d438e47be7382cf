#include "config/routes.h"

#include "base/map.h"
#include "config/items.h"
#include "config/keys.h"
#include "config/nearest.h"
#include "parse/method.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- the pattern ---- */

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
            return false;
    return len > 0 && len <= 64;
}

static bool is_dots(const char *text, size_t len)
{
    return (len == 1 || len == 2) && strncmp(text, "..", len) == 0;
}

static const char *wrong_segment(const char *text, size_t len, bool last)
{
    if (text[0] == ':')
        return is_name(text + 1, len - 1) ? NULL : "a ':' needs a name of letters, digits, '_' and '-'";
    if (len == 0)
        return last ? NULL : "an empty segment ('//')";
    if (is_dots(text, len))
        return "'.' and '..' never get this far";
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '*')
            return "wildcards are not in this version yet";
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || strchr("?#\\%", text[i]) != NULL)
            return "a path as it is once decoded is expected, without '?', '#', '%' or '\\'";
    }
    return NULL;
}

struct names {
    cg_str items[ROUTE_PARAMS_MAX];
    size_t count;
};

static const char *add_name(struct names *names, const char *text, size_t len)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].len == len && memcmp(names->items[i].ptr, text, len) == 0)
            return "the same name twice";
    if (names->count == ROUTE_PARAMS_MAX)
        return "too many names";
    names->items[names->count++] = cg_bytes(text, len);
    return NULL;
}

/* What is wrong with it, or NULL. */
static const char *wrong_pattern(const char *pattern)
{
    struct names names = {.count = 0};
    if (pattern[0] != '/')
        return "it must begin with '/'";
    if (strlen(pattern) > ROUTE_PATTERN_MAX)
        return "it is too long";
    if (strcmp(pattern, "/healthz") == 0)
        return "the server itself answers there";
    for (const char *segment = pattern + 1;;) {
        size_t len = strcspn(segment, "/");
        const char *wrong = wrong_segment(segment, len, segment[len] == '\0');
        if (wrong == NULL && segment[0] == ':')
            wrong = add_name(&names, segment + 1, len - 1);
        if (wrong != NULL || segment[len] == '\0')
            return wrong;
        segment += len + 1;
    }
}

/* The pattern with its names left out: equal for two patterns that match the same paths. */
static cg_str shape_of(struct arena *arena, cg_str pattern)
{
    char *shape = arena_alloc(arena, pattern.len + 1), *out = shape;
    for (const char *p = pattern.ptr; *p != '\0'; p++) {
        *out++ = *p;
        if (*p == ':' && p > pattern.ptr && p[-1] == '/')
            p += strcspn(p, "/") - 1;
    }
    *out = '\0';
    return cg_bytes(shape, (size_t)(out - shape));
}

/* ---- its keys ---- */

static const char *wrong_path(const char *path, size_t len)
{
    if (len == 0)
        return "it names no module";
    if (path[0] == '/')
        return "it must be relative to functions/";
    if (len > ROUTE_PATTERN_MAX)
        return "it is too long";
    for (const char *segment = path, *end = path + len; segment <= end;) {
        const char *slash = memchr(segment, '/', (size_t)(end - segment));
        size_t size = (size_t)((slash != NULL ? slash : end) - segment);
        if (size == 0 || segment[0] == '.')
            return "it must stay below functions/; no part of it may be empty or begin with '.'";
        segment += size + 1;
    }
    return NULL;
}

static bool ends_in(const char *text, size_t len, const char *end)
{
    size_t size = strlen(end);
    return len > size && memcmp(text + len - size, end, size) == 0;
}

static void set_path(struct draft *draft, struct route_setting *route, int line, const char *text)
{
    size_t len = strlen(text);
    if (ends_in(text, len, ".js")) {
        draft_complain(draft, line, "path '%.100s': functions are C now, see docs/moving.md", text);
        return;
    }
    if (ends_in(text, len, ".c")) {
        draft_complain(draft, line,
                       "path '%.100s' is a source; name the module that is made of it, '%.*s.so'", text,
                       (int)(len < 100 ? len - 2 : 98), text);
        return;
    }
    if (ends_in(text, len, ".so"))
        len -= 3;
    const char *wrong = wrong_path(text, len);
    if (wrong != NULL)
        draft_complain(draft, line, "path '%.100s': %s", text, wrong);
    else
        route->path = arena_copy(&draft->settings->arena, text, len);
}

static void default_path(struct draft *draft, struct route_setting *route)
{
    const char *pattern = route->pattern.ptr;
    if (strstr(pattern, "/:") != NULL)
        draft_complain(draft, route->line, "'%s' needs a path: the module below functions/ that answers",
                       pattern);
    else
        set_path(draft, route, route->line, pattern + (strncmp(pattern, "/api/", 5) == 0 ? 5 : 1));
}

static void add_method(struct draft *draft, struct route_setting *route, int line, const char *text)
{
    struct nearest nearest = {0};
    for (int method = 0; method < METHOD_COUNT; method++) {
        const char *name = method_name((enum method)method);
        if (strcasecmp(text, name) == 0) {
            route->methods |= 1u << method;
            return;
        }
        nearest_try(&nearest, text, name);
    }
    if (nearest.name != NULL)
        draft_complain(draft, line, "unknown method '%.100s', did you mean '%s'?", text, nearest.name);
    else
        draft_complain(draft, line,
                       "unknown method '%.100s' (GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS or any)", text);
}

static void take_method(struct draft *draft, struct route_setting *route, const struct node *item)
{
    if (item->kind == NODE_LIST) {
        if (item->items == NULL)
            draft_complain(draft, item->line, "method: the list is empty");
        for (const struct node *one = item->items; one != NULL; one = one->next) {
            if (one->kind == NODE_SCALAR)
                add_method(draft, route, one->line, one->text);
            else
                draft_complain(draft, one->line, "method: %s where a name is expected", node_kind_name(one));
        }
        return;
    }
    const char *text = item_scalar(draft, item);
    if (text != NULL && strcasecmp(text, "any") != 0)
        add_method(draft, route, item->line, text);
}

/* text is what lies between two commas, or a list's item. */
static void add_parameter(struct draft *draft, struct route_setting *route, int line, const char *text,
                          size_t len)
{
    cg_str *parameters = (cg_str *)route->parameters;
    while (len > 0 && isspace((unsigned char)text[0])) {
        text++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    if (len == 0 || len > 255) {
        draft_complain(draft, line, "parametersList: %s name", len == 0 ? "an empty" : "too long a");
        return;
    }
    for (size_t i = 0; i < route->parameter_count; i++) {
        if (parameters[i].len == len && memcmp(parameters[i].ptr, text, len) == 0) {
            draft_complain(draft, line, "parametersList: '%.*s' twice", (int)len, text);
            return;
        }
    }
    if (route->parameter_count == ROUTE_REQUIRED_MAX) {
        draft_complain(draft, line, "parametersList: more than %d names", ROUTE_REQUIRED_MAX);
        return;
    }
    parameters[route->parameter_count++] = arena_copy(&draft->settings->arena, text, len);
}

static void take_parameters(struct draft *draft, struct route_setting *route, const struct node *item)
{
    route->parameters = arena_alloc(&draft->settings->arena, ROUTE_REQUIRED_MAX * sizeof *route->parameters);
    if (item->kind == NODE_LIST) {
        for (const struct node *one = item->items; one != NULL; one = one->next) {
            if (one->kind == NODE_SCALAR)
                add_parameter(draft, route, one->line, one->text, strlen(one->text));
            else
                draft_complain(draft, one->line, "parametersList: %s where a name is expected",
                               node_kind_name(one));
        }
        return;
    }
    const char *text = item_scalar(draft, item);
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        add_parameter(draft, route, item->line, text, len);
        text += len + (text[len] == ',');
    }
}

static void take_handler(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    for (const char *p = text; p == text || *p != '\0'; p++) {
        if (!isalpha((unsigned char)*p) && *p != '_' && (p == text || !isdigit((unsigned char)*p))) {
            draft_complain(draft, item->line, "handler: '%.100s' is no name of a C function", text);
            return;
        }
    }
    route->handler = cg_bytes(text, strlen(text));
}

static void take_body_limit(struct draft *draft, struct route_setting *route, const struct node *item)
{
    struct value value;
    const char *why, *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    if (option_read(&options[OPTION_BODY_LIMIT], text, "", &draft->settings->arena, &value, &why))
        route->body_limit = (uint64_t)value.number;
    else
        draft_complain(draft, item->line, "bodyLimit: %s", why);
}

static void take_timeout(struct draft *draft, struct route_setting *route, const struct node *item)
{
    struct value value;
    const char *why, *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    if (option_read(&options[OPTION_TIMEOUT], text, "", &draft->settings->arena, &value, &why))
        route->timeout = value.number;
    else
        draft_complain(draft, item->line, "timeout: %s", why);
}

static void take_mode(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    if (strcmp(text, "blocking") == 0)
        route->blocking = true;
    else if (strcmp(text, "loop") != 0)
        draft_complain(draft, item->line, "mode: '%.100s' is neither loop nor blocking", text);
}

static void take_item(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const char *key = item->key, *text;
    if (strcmp(key, "path") == 0) {
        if ((text = item_scalar(draft, item)) != NULL)
            set_path(draft, route, item->line, text);
    } else if (strcmp(key, "method") == 0) {
        take_method(draft, route, item);
    } else if (strcmp(key, "parametersList") == 0) {
        take_parameters(draft, route, item);
    } else if (strcmp(key, "isPrivate") == 0) {
        if (item_bool(draft, item, &route->is_private) && route->is_private && draft->first_private_line == 0)
            draft->first_private_line = item->line;
    } else if (strcmp(key, "handler") == 0) {
        take_handler(draft, route, item);
    } else if (strcmp(key, "bodyLimit") == 0) {
        take_body_limit(draft, route, item);
    } else if (strcmp(key, "compress") == 0) {
        bool on = true;
        if (item_bool(draft, item, &on))
            route->plain = !on;
    } else if (strcmp(key, "timeout") == 0) {
        take_timeout(draft, route, item);
    } else if (strcmp(key, "mode") == 0) {
        take_mode(draft, route, item);
    } else if (!key_is_ignored(key)) {
        key_complain(draft, LEVEL_ROUTE, item);
    }
}

/* ---- the section ---- */

static void take_route(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const char *wrong = wrong_pattern(item->key);
    *route = (struct route_setting){.pattern = cg_bytes(item->key, strlen(item->key)),
                                    .path = cg_bytes("", 0),
                                    .handler = cg_bytes("", 0),
                                    .line = item->key_line};
    if (wrong != NULL)
        draft_complain(draft, item->key_line, "route '%.100s': %s", item->key, wrong);
    if (!item_is_map(draft, item))
        return;
    for (const struct node *key = item->items; key != NULL; key = key->next)
        take_item(draft, route, key);
    if (wrong == NULL && (item->kind != NODE_MAP || node_find(item, "path") == NULL))
        default_path(draft, route);
}

/* Which of the two a path means could not be told. */
static void check_twins(struct draft *draft, struct route_setting *routes, size_t count)
{
    struct map shapes = {0};
    for (size_t i = 0; i < count; i++) {
        cg_str shape = shape_of(&draft->settings->arena, routes[i].pattern);
        const struct route_setting *first = map_get(&shapes, shape.ptr, shape.len);
        if (first == NULL)
            (void)map_add(&shapes, shape.ptr, shape.len, &routes[i]);
        else
            draft_complain(draft, routes[i].line, "route '%.100s' matches what '%.100s' in line %d does",
                           routes[i].pattern.ptr, first->pattern.ptr, first->line);
    }
    map_finish(&shapes);
}

void routes_take(struct draft *draft, const struct node *section)
{
    struct settings *settings = draft->settings;
    size_t count = 0;
    if (!item_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next)
        count++;
    struct route_setting *routes = arena_zalloc(&settings->arena, (count + 1) * sizeof *routes);
    count = 0;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "global") == 0) /* where it never had a meaning, in old files */
            key_complain(draft, LEVEL_ROUTE, item);
        else if (!key_is_ignored(item->key))
            take_route(draft, &routes[count++], item);
    }
    check_twins(draft, routes, count);
    settings->routes = routes;
    settings->route_count = count;
}
