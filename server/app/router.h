/* From a path to what answers it. Immutable once made, so any number of threads may look things up.

   A pattern's segments are literal or `:name`, which takes any segment that is not empty. Literal segments
   win over parameters, segment by segment from the left. Paths are case-sensitive, and a slash at the end
   counts: /api/hello/ is not /api/hello. */
#ifndef APP_ROUTER_H
#define APP_ROUTER_H

#include "app/modules.h"
#include "config/settings.h"

#include <cloudgate.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUTE_MAX_PARAMS 16

/* One function at one route, and the rules for reaching it. */
struct action {
    const struct module *module;
    cg_handler *handler;      /* NULL exactly when unavailable is set */
    const cg_str *parameters; /* that a request must bring */
    size_t parameter_count;
    bool is_private;
    bool plain;              /* answers are never compressed */
    uint64_t body_limit;     /* bytes */
    bool blocking;           /* runs on the pool */
    int64_t timeout;         /* ms until 504, for what does not run on the loop from beginning to end */
    const char *unavailable; /* why every request is 503, for the log; NULL: it is good */
};

struct route {
    cg_str pattern;
    /* By enum method, fallbacks resolved; the last one: methods that are none of these. NULL: 405. HEAD has
       GET's unless the function has its own. OPTIONS has one only when a route names that method; else it is
       for the server to answer. */
    const struct action *actions[METHOD_COUNT + 1];
    char allow[64]; /* value of the Allow field: "GET, HEAD, POST, OPTIONS" */
    bool mounted;   /* by itself, at /api/NAME */
};

struct match {
    const struct route *route;
    size_t count;
    cg_field params[ROUTE_MAX_PARAMS]; /* values are slices of the path, not terminated */
};

struct router;

/* settings and modules must outlive the router. Start the modules first: what their error says then is what
   the routes say. NULL when routes contradict each other, with the reason (caller frees). */
struct router *router_create(const struct settings *settings, const struct modules *modules,
                             char **ret_error);
void router_destroy(struct router *router);

/* path is normalised. false, and *ret_match undefined, when no route has it. */
bool router_find(const struct router *router, cg_str path, struct match *ret_match);

/* All routes, for the banner: those of the file in its order, then the mounted ones by name. */
size_t router_count(const struct router *router);
const struct route *router_route(const struct router *router, size_t index);

enum method method_of(cg_str name);          /* case-sensitive; METHOD_COUNT: another one */
const char *method_name(enum method method); /* "GET"; "other" for METHOD_COUNT */

#endif
