/* Where a file is found on the site. */
#ifndef APP_SITE_PATH_H
#define APP_SITE_PATH_H

#include "base/arena.h"

#include <cloudgate.h>

/* prefix ("/", "/api/") and the name of a file below a folder (any bytes), as path_normalise gives the URL
   that names it. */
cg_str site_path(struct arena *arena, const char *prefix, const char *name);

#endif
