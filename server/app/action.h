/* How a module's handlers become the actions of a route. */
#ifndef APP_ACTION_H
#define APP_ACTION_H

#include "app/module.h"
#include "base/arena.h"
#include "config/settings.h"
#include "parse/method.h"

#include <cloudgate.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function at one route, and the rules for reaching it. */
struct action {
    const struct module *module;
    cg_handler *handler;               /* NULL exactly when unavailable is set; for a socket, its .upgrade */
    const struct socket_rules *socket; /* of a WebSocket; else NULL */
    const cg_str *parameters;          /* that a request must bring */
    size_t parameter_count;
    bool is_private;
    bool plain;              /* answers are never compressed */
    uint64_t body_limit;     /* bytes */
    bool blocking;           /* runs on the pool */
    int64_t loop_timeout;    /* ms that it may keep an event loop */
    int64_t timeout;         /* ms until 504, for what does not run on the loop from beginning to end */
    const char *unavailable; /* why every request is 503, for the log; NULL: it is good */
};

struct route {
    cg_str pattern;
    /* By enum method, fallbacks resolved; the last one: methods that are none of these. NULL: 405. HEAD has
       GET's unless the function has its own. OPTIONS has one only when a route names that method; else it is
       for the server to answer. */
    const struct action *actions[METHOD_COUNT + 1];
    const struct action *socket; /* for WebSockets; NULL: none here */
    char allow[64];              /* value of the Allow field: "GET, HEAD, POST, OPTIONS" */
};

/* Sets the actions that setting gives to a route that has none of its kind. */
void route_add_setting(struct route *route, const struct route_setting *setting,
                       const struct settings *settings, const struct module *module, struct arena *arena);
/* The actions of a route without a setting of its own: all that the module has handlers for. */
void route_add_module(struct route *route, const struct settings *settings, const struct module *module,
                      struct arena *arena);
/* Thereafter: fallbacks between methods, and the value of Allow. */
void route_complete(struct route *route, struct arena *arena);

#endif
