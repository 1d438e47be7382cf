/* Which keys stand where in the config file, and what to say about one that does not. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include "config/draft.h"
#include "config/yaml.h"

#include <stdbool.h>

enum level { LEVEL_TOP, LEVEL_GLOBAL, LEVEL_FUNCTIONS, LEVEL_STATIC, LEVEL_ROUTE, LEVEL_SOCKET, LEVEL_COUNT };

bool key_belongs(enum level level, const char *key);
/* x- keys are the file's own. */
bool key_is_ignored(const char *key);

/* Tells what is wrong with a key that this level does not have: it belongs elsewhere, comes in a later
   version, or is unknown, with the nearest valid name. */
void key_complain(struct draft *draft, enum level level, const struct node *item);

/* A flag that there is none of; name is without its dashes. */
void key_complain_flag(struct draft *draft, const char *flag, const char *name);

/* Variables of later versions (and of earlier servers) that are set and not off: each is worth a warning
   only, since an environment is inherited. */
void key_warn_variables(struct draft *draft);

#endif
