/* From a path to what answers it. Immutable once made, so any number of threads may look things up.

   A pattern's segments are literal or `:name`, which takes any segment that is not empty. Literal segments
   win over parameters, segment by segment from the left. Paths are case-sensitive, and a slash at the end
   counts: /api/hello/ is not /api/hello. */
#ifndef APP_ROUTER_H
#define APP_ROUTER_H

#include "app/action.h"
#include "app/modules.h"
#include "config/settings.h"

#include <cloudgate.h>
#include <stdbool.h>
#include <stddef.h>

struct match {
    const struct route *route;
    size_t count;
    cg_field params[ROUTE_PARAMS_MAX]; /* values are slices of the path, not terminated */
};

struct router;

/* settings and modules must outlive the router. Start the modules first: what their error says then is what
   the routes say. */
struct router *router_create(const struct settings *settings, const struct modules *modules);
void router_destroy(struct router *router);

/* path is normalised. false, and *ret_match undefined, when no route has it. */
bool router_find(const struct router *router, cg_str path, struct match *ret_match);

/* All routes, for the banner: those of the file in its order, then the mounted ones by name. */
size_t router_count(const struct router *router);
const struct route *router_route(const struct router *router, size_t index);

/* What keeps functions from being called: told once for a module, and for each route that has a reason of its
   own. Returns how many there were. */
size_t router_tell_problems(const struct router *router, const struct modules *modules,
                            void (*tell)(const char *text));

#endif
