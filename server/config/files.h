/* What the config file says about the files of public/: section static, and how often they are looked at. */
#ifndef CONFIG_FILES_H
#define CONFIG_FILES_H

#include "config/draft.h"
#include "config/yaml.h"

#define FILES_REFRESH_DEFAULT 5000 /* ms */
#define FILES_REFRESH_MIN 100      /* smaller values are raised to it: each look takes time */

void files_take(struct draft *draft, const struct node *section);
/* cacheDurationForStatic */
void files_take_refresh(struct draft *draft, const struct node *item);

#endif
