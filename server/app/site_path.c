#include "app/site_path.h"

#include "parse/path.h"
#include "parse/percent.h"

/* Written as a URL would have it and then normalised like one, so that both sides agree on every byte. */
cg_str site_path(struct arena *arena, const char *prefix, const char *name)
{
    size_t name_len = strlen(name), len = 0;
    char *url = arena_alloc(arena, strlen(prefix) + 3 * name_len + 1), *to = stpcpy(url, prefix);
    for (size_t i = 0; i < name_len; i++) {
        if (name[i] == '/')
            *to++ = '/';
        else
            to = percent_put(to, name[i]);
    }
    char *path = arena_alloc(arena, (size_t)(to - url) + 1);
    (void)path_normalise(url, (size_t)(to - url), path, &len);
    return cg_bytes(path, len);
}
