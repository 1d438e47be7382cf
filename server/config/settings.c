#include "config/settings.h"

#include "config/env.h"

#include <stdlib.h>

void settings_destroy(struct settings *settings)
{
    if (settings == NULL)
        return;
    arena_finish(&settings->arena);
    free(settings);
}

void settings_export_env(const struct settings *settings)
{
    /* From the end, since of a repeated variable the last counts and the first one set stays. */
    for (size_t i = settings->variable_count; i-- > 0;)
        setenv(settings->variables[i].name, settings->variables[i].value, 0);
}
