/* Section static of the config file: what is said about the files of public/. */
#ifndef CONFIG_FILES_H
#define CONFIG_FILES_H

#include "config/draft.h"
#include "config/yaml.h"

void files_take(struct draft *draft, const struct node *section);

#endif
