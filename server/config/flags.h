/* The command line behind its verb: [--port 3000] [--port=3000] [-p 3000] [--ssl] [DIR]. */
#ifndef CONFIG_FLAGS_H
#define CONFIG_FLAGS_H

#include "config/draft.h"

/* A flag is an option's name in any case, '-' and '_' as one likes; of a repeated one the last counts.
   Yes-or-no options take a value only behind '='; all others need one. "--" ends the flags. *ret_dir is the
   one argument that is no flag, also as --rootfolder or -r; NULL when there is none. */
void flags_parse(struct draft *draft, int argc, char *const argv[], const char *base, const char **ret_dir);

#endif
