/* How a module's handlers become the actions of a route. */
#ifndef APP_ACTION_H
#define APP_ACTION_H

#include "app/router.h"
#include "base/arena.h"

/* Sets the actions that setting gives to route. NULL, or the method that two settings claim. */
const char *route_add_setting(struct route *route, const struct route_setting *setting,
                              const struct settings *settings, const struct module *module,
                              struct arena *arena);
/* The actions of a route without settings of its own: all that the module has handlers for. */
void route_add_module(struct route *route, const struct settings *settings, const struct module *module,
                      struct arena *arena);
/* Once all settings are in: fallbacks between methods, and the value of Allow. */
void route_complete(struct route *route, struct arena *arena);

#endif
