/* ${NAME} in the values of the config file. */
#ifndef CONFIG_EXPAND_H
#define CONFIG_EXPAND_H

#include "config/draft.h"
#include "config/yaml.h"

/* Replaces ${NAME} by the variable's value, ${NAME:-text} by text when it is unset or empty, and $${ by ${,
   in every value but those of x- keys. An unset variable without such a text is told. */
void expand_tree(struct draft *draft, struct node *node);

#endif
