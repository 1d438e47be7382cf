/* Values of the config file's items: false or NULL, and told, when one is not of that kind. */
#ifndef CONFIG_ITEMS_H
#define CONFIG_ITEMS_H

#include "config/draft.h"
#include "config/yaml.h"

#include <stdbool.h>

/* A null counts as a map without keys: a section whose lines are all commented out. */
bool item_is_map(struct draft *draft, const struct node *item);
const char *item_scalar(struct draft *draft, const struct node *item);
bool item_bool(struct draft *draft, const struct node *item, bool *ret_on);

/* Where it stands, "apiconfig.yaml:7"; lives as long as the settings. */
const char *item_origin(struct draft *draft, const struct node *item);

/* The item's value is one for the option; once only, whatever name it goes by. */
void item_offer(struct draft *draft, const struct node *item, const struct option *option);

#endif
