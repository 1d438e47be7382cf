/* What <cloudgate.h> declares and this version does not serve: a module that wants it is refused by name. */
#ifndef APP_MISSING_H
#define APP_MISSING_H

#include <cloudgate.h>

/* The feature that a function belongs to: "WebSockets" for "cg_ws_send". NULL: it is no name of ours. symbol
   ends at its end or at the first of ",: ". */
const char *missing_function(const char *symbol);

/* The first thing in hooks that can't be served: ".upgrade (WebSockets)". NULL when all can; caller frees. */
char *missing_hooks(const cg_module *hooks);

#endif
