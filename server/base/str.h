/* Slices: of literals, comparing them, and cutting them in two. */
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

/* Before and behind the first `at`. False: there is none; all is before, and behind is empty, at its end. */
static inline bool str_cut(cg_str text, char at, cg_str *ret_before, cg_str *ret_behind)
{
    const char *found = text.len > 0 ? (const char *)memchr(text.ptr, at, text.len) : NULL;
    if (found == NULL) {
        *ret_before = text;
        *ret_behind = cg_bytes(text.len > 0 ? text.ptr + text.len : text.ptr, 0);
        return false;
    }
    *ret_before = cg_bytes(text.ptr, (size_t)(found - text.ptr));
    *ret_behind = cg_bytes(found + 1, text.len - ret_before->len - 1);
    return true;
}

#endif
