/* Sections REST and WEBSOCKET of the config file. Decisions it documents by refusing everything else:
   - A pattern is "/" and segments, each literal (decoded, as event->path shows it) or ":name"; at most
     ROUTE_PARAMS_MAX names. No two patterns may differ only in names.
   - path names a module below functions/, with or without ".so". Without it, it is where auto-mount would
   look: the pattern without "/api/" (or "/"), if it has no :name.
   - method is a name or a list of them in any case; "any", or none at all, stands for all.
   - parametersList is a list of names, or one string with commas. */
#ifndef CONFIG_ROUTES_H
#define CONFIG_ROUTES_H

#include "config/draft.h"
#include "config/yaml.h"

#define ROUTE_PATTERN_MAX 1024 /* bytes */
#define ROUTE_REQUIRED_MAX 64  /* names in parametersList */

/* Each section once. */
void routes_take(struct draft *draft, const struct node *section, bool are_sockets);

#endif
