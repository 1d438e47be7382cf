/* The modules of an app: each shared object below functions/ that is not hidden, plus those that routes
   name. */
#ifndef APP_MODULES_H
#define APP_MODULES_H

#include "app/module.h"
#include "config/settings.h"

#include <stddef.h>

/* Zeroed is empty and valid. Sorted by name in byte order, each name once. */
struct modules {
    struct module **items;
    size_t count;
};

/* Loads all below settings->functions_dir; files and folders that begin with '.' or '_' and `*_test.so` are
   left out unless a route names them. A file that a route names and that does not exist is a module with an
   error. A missing functions_dir is an empty one. 0, or a negative errno of the scan and its text (caller
   frees). */
int modules_load(const struct settings *settings, struct modules *ret_modules, char **ret_error);
void modules_finish(struct modules *modules);

struct module *modules_find(const struct modules *modules, cg_str name); /* NULL when absent */

/* Runs init of each good module; a failure is told in its error. */
void modules_start(struct modules *modules);
void modules_stop(struct modules *modules); /* fini, in reverse order */

/* On each thread that calls modules. 0, or what the first failing thread_init returned, with the module that
   failed; those before it are stopped again, the thread must not serve. */
int modules_thread_start(const struct modules *modules, const struct module **ret_failed);
void modules_thread_stop(const struct modules *modules);

#endif
