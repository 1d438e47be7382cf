/* The settings of an app, from all the places that say something about them. */
#ifndef CONFIG_LOAD_H
#define CONFIG_LOAD_H

#include "config/settings.h"

/* Settings of flags, environment, DIR/.env and file; the highest that gives a value wins, but a bad value is
   fatal wherever it stands. argv: the arguments behind the verb, without the program's name. A path of a flag
   or of the environment is relative to the current folder, one of .env or of the file to DIR. -EINVAL:
   *ret_error (caller frees) tells what is wrong, a line each, with its origin: "apiconfig.yaml:7: unknown key
   'prot', did you mean 'port'?" */
int settings_load(int argc, char *const argv[], struct settings **ret_settings, char **ret_error);

#endif
