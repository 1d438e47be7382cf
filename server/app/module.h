/* One function's shared object. It is opened from a private copy in memory, so whatever happens to the file
   afterwards never reaches the code that runs. Code is only unloaded by module_destroy. */
#ifndef APP_MODULE_H
#define APP_MODULE_H

#include <cloudgate.h>
#include <stdbool.h>

#define MODULE_SIZE_MAX (256u << 20) /* bytes of a .so */

struct module {
    char *name;                         /* below functions/, without ".so": "tests/simple" */
    char *file;                         /* for people: "functions/tests/simple.so" */
    cg_module hooks;                    /* all zero as long as nothing could be loaded */
    void *handle;                       /* of dlopen, or NULL */
    const void *base, *text, *text_end; /* where it is loaded, and where its own code is */
    char *error;    /* why it can't be called, with the file's name, one line; NULL: it is good */
    uint64_t build; /* a number of its bytes: another one for another build */
    int fd;         /* of the copy: open as long as the code is loaded, because debuggers read it; or -1 */
    bool started;   /* init has succeeded */
};

/* Never NULL; error is set when the module can't be used. Runs the constructors of the object: one that exits
   or crashes takes the process along. */
struct module *module_load(const char *functions_dir, const char *name);
/* Nobody may be in the module's code any more. */
void module_destroy(struct module *module);

/* What CG_HANDLER(name) exports; NULL when there is none. */
cg_handler *module_handler(const struct module *module, const char *name);

/* Run init and fini, once a process: 0, or -EINVAL, and error is set. Harmless on a module with an error. */
int module_start(struct module *module);
void module_stop(struct module *module);

/* Run thread_init and thread_fini on the calling thread: 0, or what thread_init returned. Only for modules
   without error; the module itself is not changed, so threads can do this at the same time. */
int module_thread_start(const struct module *module);
void module_thread_stop(const struct module *module);

#endif
