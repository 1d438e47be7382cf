#include "config/keys.h"

#include "config/nearest.h"
#include "config/values.h"

#include <string.h>

static const char *const top_keys[] = {"global", "REST", "WEBSOCKET", "functions", "static", NULL};
static const char *const global_keys[] = {"APIKEY", "cacheDurationForStatic", "cacheDurationForAPI", NULL};
static const char *const functions_keys[] = {"autoMount", "folder", NULL};
static const char *const static_keys[] = {"cacheControl", NULL};
static const char *const route_keys[] = {"path",      "method",   "parametersList", "isPrivate", "handler",
                                         "bodyLimit", "compress", "timeout",        "mode",      NULL};
static const char *const socket_keys[] = {"path",         "isPrivate",  "parametersList", "mode",
                                          "timeout",      "compress",   "origins",        "protocols",
                                          "messageLimit", "queueLimit", "pingInterval",   "pongTimeout",
                                          "idleTimeout",  "slow",       "takeover",       NULL};

static const char *const *const keys[LEVEL_COUNT] = {
    [LEVEL_TOP] = top_keys,       [LEVEL_GLOBAL] = global_keys, [LEVEL_FUNCTIONS] = functions_keys,
    [LEVEL_STATIC] = static_keys, [LEVEL_ROUTE] = route_keys,   [LEVEL_SOCKET] = socket_keys,
};

static const char *const later_top_keys[] = {"output_cache", "admin",     "admin_path",
                                             "admin_token",  "rateLimit", "cors",
                                             "rewritings",   "redirects", NULL};
static const char *const later_global_keys[] = {"compat", "rateLimit", "cors", NULL};
static const char *const later_functions_keys[] = {NULL};
static const char *const later_static_keys[] = {NULL};
static const char *const later_route_keys[] = {
    "cache", "cacheDurationForAPI", "rateLimit", "cors", "settings", NULL};
static const char *const later_socket_keys[] = {"rateLimit", "settings", NULL};

static const char *const *const later_keys[LEVEL_COUNT] = {
    [LEVEL_TOP] = later_top_keys,
    [LEVEL_GLOBAL] = later_global_keys,
    [LEVEL_FUNCTIONS] = later_functions_keys,
    [LEVEL_STATIC] = later_static_keys,
    [LEVEL_ROUTE] = later_route_keys,
    [LEVEL_SOCKET] = later_socket_keys,
};

static const char *const places[LEVEL_COUNT] = {
    [LEVEL_TOP] = "at the top level",
    [LEVEL_GLOBAL] = "in section global",
    [LEVEL_FUNCTIONS] = "in section functions",
    [LEVEL_STATIC] = "in section static",
    [LEVEL_ROUTE] = "in a route of section REST",
    [LEVEL_SOCKET] = "in a route of section WEBSOCKET",
};

static const char *const later_variables[] = {"OUTPUT_CACHE", "ADMIN", "ADMIN_PATH", "ADMIN_TOKEN",
                                              "MASTER",       "SLAVE", NULL};

static const char *const later_flags[] = {"output-cache", "outputcache", "oc",         "admin",  "admin-path",
                                          "adminpath",    "admin-token", "admintoken", "silent", "s",
                                          "ssl-domain",   "ssldomain",   "list",       "load",   "unload",
                                          "create",       "master",      "slave",      NULL};

static bool contains(const char *const *names, const char *name)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

bool key_belongs(enum level level, const char *key)
{
    return contains(keys[level], key) || (level == LEVEL_TOP && option_of_key(key) != NULL);
}

bool key_is_ignored(const char *key)
{
    return strncmp(key, "x-", 2) == 0;
}

static const char *nearest_key(enum level level, const char *key)
{
    struct nearest nearest = {0};
    for (const char *const *name = keys[level]; *name != NULL; name++)
        nearest_try(&nearest, key, *name);
    for (int id = 0; level == LEVEL_TOP && id < OPTION_COUNT; id++)
        if (id != OPTION_CONFIG)
            nearest_try(&nearest, key, options[id].key);
    return nearest.name;
}

void key_complain(struct draft *draft, enum level level, const struct node *item)
{
    const char *nearest = nearest_key(level, item->key);
    if (contains(later_keys[level], item->key)) {
        draft_complain(draft, item->key_line, "'%s' is not in this version yet", item->key);
        return;
    }
    for (int other = 0; other < LEVEL_COUNT; other++) {
        if (other != (int)level &&
            (key_belongs((enum level)other, item->key) || contains(later_keys[other], item->key))) {
            draft_complain(draft, item->key_line, "'%s' does not belong here but %s", item->key,
                           places[other]);
            return;
        }
    }
    if (nearest != NULL)
        draft_complain(draft, item->key_line, "unknown key '%.100s', did you mean '%s'?", item->key, nearest);
    else
        draft_complain(draft, item->key_line, "unknown key '%.100s' %s", item->key, places[level]);
}

void key_complain_flag(struct draft *draft, const char *flag, const char *name)
{
    struct nearest nearest = {0};
    if (contains(later_flags, name)) {
        problems_add(&draft->problems, "%s: is not in this version yet", flag);
        return;
    }
    for (int id = 0; id < OPTION_COUNT && strlen(name) > 1; id++)
        nearest_try(&nearest, name, options[id].key);
    if (nearest.name == NULL) {
        problems_add(&draft->problems, "%.100s: unknown flag", flag);
        return;
    }
    char meant[64] = "";
    for (size_t i = 0; i + 1 < sizeof meant && nearest.name[i] != '\0'; i++)
        meant[i] = nearest.name[i] == '_' ? '-' : nearest.name[i];
    problems_add(&draft->problems, "%.100s: unknown flag, did you mean '--%s'?", flag, meant);
}

void key_warn_variables(struct draft *draft)
{
    for (const char *const *name = later_variables; *name != NULL; name++) {
        const char *value = draft_variable(draft, *name);
        bool on;
        if (value != NULL && (value_bool(value, &on) < 0 || on))
            draft_warn(draft, "%s is set, but is not in this version yet", *name);
    }
}
