/* The compiler's command line for a module, and running it. */
#ifndef APP_COMPILER_H
#define APP_COMPILER_H

#include "app/arguments.h"
#include "config/settings.h"

#include <stdbool.h>
#include <sys/types.h>

/* By the name: a source of a module, in C or C++; one in C++; what they may include. */
bool compiler_is_source(const char *name);
bool compiler_is_cpp(const char *name);
bool compiler_is_header(const char *name);

/* The words that make object out of source and the library's sources. 0, or a negative errno with the reason
   (caller frees), as for a package that pkg-config does not know. */
int compiler_command(const struct settings *settings, const char *source, const char *object,
                     const struct arguments *library, struct arguments *ret_command, char **ret_error);

/* Starts the program that the command names, looked up in PATH, without a shell. */
int compiler_start(const struct arguments *command, pid_t *ret_pid);
/* Waits for its end: whether it succeeded. */
bool compiler_wait(pid_t pid);

/* Puts <cloudgate.h> into state_dir/include, unless it is there. A negative errno on failure. */
int compiler_write_header(const char *state_dir);

#endif
