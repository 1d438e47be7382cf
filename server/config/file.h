/* The config file: its sections, and the options at its top level. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "config/draft.h"

#include <stdbool.h>

/* Takes what a file says into the draft, problems included. Settings' root must be set. */
void file_parse(struct draft *draft, cg_str text, bool json);

/* A file's text with nothing around it, as the fuzzer wants it: no flags, no .env; root need not exist.
   Results as of settings_load. */
int file_parse_alone(cg_str text, bool json, const char *root, struct settings **ret_settings,
                     char **ret_error);

#endif
