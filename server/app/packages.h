/* The packages that a source asks for: a line `// cloudgate: pkgs=sqlite3,libcurl`. */
#ifndef APP_PACKAGES_H
#define APP_PACKAGES_H

#include "app/arguments.h"

/* Adds what pkg-config ($PKG_CONFIG) says of them to command. 0, or a negative errno with the reason. */
int packages_add(const char *source, struct arguments *command, char **ret_error);

#endif
