/* A `.env` file: lines KEY=value or export KEY=value, blank lines, '#' comments.
   A value is plain (trimmed, ended by " #"), 'single' (as it is) or "double" quoted (\n \r \t \\ \" \$ are
   escapes); a quoted one may span lines. Nothing is expanded. Of a repeated key the last wins, as in a
   shell. */
#ifndef CONFIG_ENV_H
#define CONFIG_ENV_H

#include "base/arena.h"
#include "config/problems.h"

#include <stddef.h>

struct variable {
    const char *name, *value;
    int line;
};

struct env {
    struct variable *items; /* in the order of the file, repeated ones included; in the arena */
    size_t count;
};

/* text need not be terminated; file is how messages call it. Lines that are wrong are told and skipped. */
void env_parse(const char *text, size_t len, const char *file, struct arena *arena, struct problems *problems,
               struct env *ret_env);

/* NULL when absent or empty: an empty variable counts as unset. */
const struct variable *env_find(const struct env *env, const char *name);

#endif
