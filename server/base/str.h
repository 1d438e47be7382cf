/* Slices of literals, and comparing slices. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <cloudgate.h>
#include <stdbool.h>
#include <string.h>

/* The slice of a literal; also where only constants may stand. */
#define STR(literal) ((cg_str){"" literal, sizeof(literal) - 1})

/* Whether they are the same bytes. */
static inline bool str_equal(cg_str a, cg_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is(cg_str text, const char *word)
{
    return str_equal(text, cg_string(word));
}

#endif
