/* Settings as text. Callers free. */
#ifndef CONFIG_DESCRIBE_H
#define CONFIG_DESCRIBE_H

#include "config/settings.h"

/* Every value with its origin, then the routes, one a line, for `cloudgate check`. Secrets are masked. */
char *settings_describe(const struct settings *settings);

/* What can be set, with its default, for `cloudgate help settings`. */
char *options_describe(void);

#endif
