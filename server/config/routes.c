#include "config/routes.h"

#include "base/map.h"
#include "base/str.h"
#include "config/items.h"
#include "config/keys.h"
#include "config/nearest.h"
#include "parse/field.h"
#include "parse/method.h"
#include "parse/origin.h"

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

static void add_method(struct draft *draft, struct route_setting *route, int line, const char *text,
                       size_t len)
{
    struct nearest nearest = {0};
    const char *wanted = arena_copy(&draft->settings->arena, text, len).ptr;
    for (int method = 0; method < METHOD_COUNT; method++) {
        const char *name = method_name((enum method)method);
        if (strcasecmp(wanted, name) == 0) {
            route->methods |= 1u << method;
            return;
        }
        nearest_try(&nearest, wanted, name);
    }
    if (nearest.name != NULL)
        draft_complain(draft, line, "unknown method '%.100s', did you mean '%s'?", wanted, nearest.name);
    else
        draft_complain(draft, line,
                       "unknown method '%.100s' (GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS or any)",
                       wanted);
}

typedef void take_text(struct draft *draft, struct route_setting *route, int line, const char *text,
                       size_t len);

/* One text, or several: a list of them, or some with commas in between. */
static void take_texts(struct draft *draft, struct route_setting *route, const struct node *item,
                       take_text *take)
{
    if (item->kind == NODE_LIST) {
        if (item->items == NULL)
            draft_complain(draft, item->line, "%s: the list is empty", item->key);
        for (const struct node *one = item->items; one != NULL; one = one->next) {
            if (one->kind == NODE_SCALAR)
                take(draft, route, one->line, one->text, strlen(one->text));
            else
                draft_complain(draft, one->line, "%s: %s where a name is expected", item->key,
                               node_kind_name(one));
        }
        return;
    }
    const char *text = item_scalar(draft, item);
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        cg_str one = blank_trim(cg_bytes(text, len));
        take(draft, route, item->line, one.ptr, one.len);
        text += len + (text[len] == ',');
    }
}

static void take_method(struct draft *draft, struct route_setting *route, const struct node *item)
{
    if (item->kind != NODE_SCALAR || strcasecmp(item->text, "any") != 0)
        take_texts(draft, route, item, add_method);
}

/* Adds a copy of it to a list of at most ROUTE_REQUIRED_MAX. */
static void add_name_to(struct draft *draft, const cg_str **names, size_t *count, int line, const char *key,
                        cg_str name)
{
    if (*names == NULL)
        *names = arena_alloc(&draft->settings->arena, ROUTE_REQUIRED_MAX * sizeof **names);
    if (name.len == 0 || name.len > 255) {
        draft_complain(draft, line, "%s: %s name", key, name.len == 0 ? "an empty" : "too long a");
        return;
    }
    for (size_t i = 0; i < *count; i++) {
        if (str_equal((*names)[i], name)) {
            draft_complain(draft, line, "%s: '%.*s' twice", key, (int)name.len, name.ptr);
            return;
        }
    }
    if (*count == ROUTE_REQUIRED_MAX)
        draft_complain(draft, line, "%s: more than %d names", key, ROUTE_REQUIRED_MAX);
    else
        ((cg_str *)*names)[(*count)++] = arena_copy(&draft->settings->arena, name.ptr, name.len);
}

static void add_parameter(struct draft *draft, struct route_setting *route, int line, const char *text,
                          size_t len)
{
    add_name_to(draft, &route->parameters, &route->parameter_count, line, "parametersList",
                cg_bytes(text, len));
}

static void take_parameters(struct draft *draft, struct route_setting *route, const struct node *item)
{
    take_texts(draft, route, item, add_parameter);
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

static void take_private(struct draft *draft, struct route_setting *route, const struct node *item)
{
    if (item_bool(draft, item, &route->is_private) && route->is_private && draft->first_private_line == 0)
        draft->first_private_line = item->line;
}

static void take_compress(struct draft *draft, struct route_setting *route, const struct node *item)
{
    bool on = true;
    if (item_bool(draft, item, &on))
        route->plain = !on;
}

static void take_path(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const char *text = item_scalar(draft, item);
    if (text != NULL)
        set_path(draft, route, item->line, text);
}

/* ---- those of WebSockets ---- */

static void add_origin(struct draft *draft, struct route_setting *route, int line, const char *text,
                       size_t len)
{
    struct socket_rules *rules = &route->socket;
    char origin[ORIGIN_MAX];
    if (len == 1 && text[0] == '*')
        rules->any_origin = true;
    else if (origin_normalise(cg_bytes(text, len), origin))
        add_name_to(draft, &rules->origins, &rules->origin_count, line, "origins", cg_string(origin));
    else
        draft_complain(draft, line, "origins: '%.*s' is no origin as in https://example.com, nor '*'",
                       (int)(len < 100 ? len : 100), text);
}

static void take_origins(struct draft *draft, struct route_setting *route, const struct node *item)
{
    take_texts(draft, route, item, add_origin);
}

static void add_protocol(struct draft *draft, struct route_setting *route, int line, const char *text,
                         size_t len)
{
    struct socket_rules *rules = &route->socket;
    if (len == 0 || field_name_valid(cg_bytes(text, len)))
        add_name_to(draft, &rules->protocols, &rules->protocol_count, line, "protocols", cg_bytes(text, len));
    else
        draft_complain(draft, line, "protocols: '%.*s' is no token", (int)(len < 100 ? len : 100), text);
}

static void take_protocols(struct draft *draft, struct route_setting *route, const struct node *item)
{
    take_texts(draft, route, item, add_protocol);
}

static void take_slow(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const char *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    route->socket.drop = strcmp(text, "drop") == 0;
    if (!route->socket.drop && strcmp(text, "close") != 0)
        draft_complain(draft, item->line, "slow: '%.100s' is neither close nor drop", text);
}

static void take_takeover(struct draft *draft, struct route_setting *route, const struct node *item)
{
    (void)item_bool(draft, item, &route->socket.takeover);
}

/* ---- all of them ---- */

static const struct {
    const char *key;
    void (*take)(struct draft *draft, struct route_setting *route, const struct node *item);
} takers[] = {
    {"path", take_path},       {"isPrivate", take_private}, {"parametersList", take_parameters},
    {"mode", take_mode},       {"compress", take_compress}, {"method", take_method},
    {"handler", take_handler}, {"origins", take_origins},   {"protocols", take_protocols},
    {"slow", take_slow},       {"takeover", take_takeover},
};

/* What an option says for all routes, for this one. */
static const struct {
    const char *key;
    enum option_id option;
    size_t offset;
} values[] = {
    {"bodyLimit", OPTION_BODY_LIMIT, offsetof(struct route_setting, body_limit)},
    {"timeout", OPTION_TIMEOUT, offsetof(struct route_setting, timeout)},
    {"messageLimit", OPTION_MESSAGE_LIMIT, offsetof(struct route_setting, socket.message_limit)},
    {"queueLimit", OPTION_STREAM_QUEUE, offsetof(struct route_setting, socket.queue_limit)},
    {"pingInterval", OPTION_PING_INTERVAL, offsetof(struct route_setting, socket.ping_interval)},
    {"pongTimeout", OPTION_PONG_TIMEOUT, offsetof(struct route_setting, socket.pong_timeout)},
    {"idleTimeout", OPTION_IDLE_TIMEOUT, offsetof(struct route_setting, socket.idle_timeout)},
};

static void take_value(struct draft *draft, const struct node *item, const struct option *option,
                       void *member)
{
    struct value value;
    const char *why, *text = item_scalar(draft, item);
    if (text == NULL)
        return;
    if (option_read(option, text, "", &draft->settings->arena, &value, &why))
        option_store_at(option, member, value);
    else
        draft_complain(draft, item->line, "%s: %s", item->key, why);
}

static void take_item(struct draft *draft, struct route_setting *route, const struct node *item)
{
    const enum level level = route->is_socket ? LEVEL_SOCKET : LEVEL_ROUTE;
    if (!key_belongs(level, item->key)) {
        if (!key_is_ignored(item->key))
            key_complain(draft, level, item);
        return;
    }
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(item->key, takers[i].key) == 0)
            takers[i].take(draft, route, item);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(item->key, values[i].key) == 0)
            take_value(draft, item, &options[values[i].option], (char *)route + values[i].offset);
}

/* ---- the section ---- */

static void take_route(struct draft *draft, struct route_setting *route, const struct node *item,
                       bool is_socket)
{
    const char *wrong = wrong_pattern(item->key);
    *route = (struct route_setting){.pattern = cg_bytes(item->key, strlen(item->key)),
                                    .path = cg_bytes("", 0),
                                    .handler = cg_bytes("", 0),
                                    .is_socket = is_socket,
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

/* Which of the two a path means could not be told. A WebSocket may be where a function is, under the very
   same pattern. */
static void check_twins(struct draft *draft, struct route_setting *routes, size_t first, size_t count)
{
    struct map shapes = {0};
    for (size_t i = 0; i < count; i++) {
        const struct route_setting *route = &routes[i];
        cg_str shape = shape_of(&draft->settings->arena, route->pattern);
        const struct route_setting *twin = map_get(&shapes, shape.ptr, shape.len);
        if (twin == NULL)
            (void)map_add(&shapes, shape.ptr, shape.len, &routes[i]);
        else if (i >= first &&
                 (twin->is_socket == route->is_socket || !str_equal(twin->pattern, route->pattern)))
            draft_complain(draft, route->line, "route '%.100s' matches what '%.100s' in line %d does",
                           route->pattern.ptr, twin->pattern.ptr, twin->line);
    }
    map_finish(&shapes);
}

void routes_take(struct draft *draft, const struct node *section, bool are_sockets)
{
    struct settings *settings = draft->settings;
    const size_t first = settings->route_count;
    size_t count = first;
    if (!item_is_map(draft, section))
        return;
    for (const struct node *item = section->items; item != NULL; item = item->next)
        count++;
    struct route_setting *routes = arena_zalloc(&settings->arena, (count + 1) * sizeof *routes);
    if (first > 0)
        memcpy(routes, settings->routes, first * sizeof *routes);
    count = first;
    for (const struct node *item = section->items; item != NULL; item = item->next) {
        if (strcmp(item->key, "global") == 0) /* where it never had a meaning, in old files */
            key_complain(draft, are_sockets ? LEVEL_SOCKET : LEVEL_ROUTE, item);
        else if (!key_is_ignored(item->key))
            take_route(draft, &routes[count++], item, are_sockets);
    }
    check_twins(draft, routes, first, count);
    settings->routes = routes;
    settings->route_count = count;
}
