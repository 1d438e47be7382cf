#include "parse/query.h"

#include "base/str.h"
#include "parse/percent.h"

#include <errno.h>
#include <stdbool.h>

/* The next pair that is not empty; false at the end. */
static bool next_pair(cg_str *rest, cg_str *ret_pair)
{
    while (rest->len > 0) {
        str_cut(*rest, '&', ret_pair, rest);
        if (ret_pair->len > 0)
            return true;
    }
    return false;
}

/* Counted before memory is taken, so "&&&&" costs nothing; gives up behind `most`. */
static size_t count_pairs(cg_str raw, size_t most)
{
    cg_str pair;
    size_t count = 0;
    while (count <= most && next_pair(&raw, &pair))
        count++;
    return count;
}

static char *decode(const char *text, size_t len, char *to, cg_str *ret)
{
    *ret = cg_bytes(to, percent_decode(text, len, true, to));
    return to + ret->len + 1;
}

int query_parse(cg_str raw, size_t most, struct arena *arena, cg_fields *ret_pairs)
{
    cg_str pair;
    size_t count = count_pairs(raw, most);
    if (count > most)
        return -E2BIG;
    if (count == 0) {
        *ret_pairs = (cg_fields){NULL, 0};
        return 0;
    }
    /* Decoding never adds bytes. The two NULs of a pair have the place of its '=' and '&'; the last pair has
       no '&', and a pair without '=' needs no NUL for its value. */
    cg_field *items = arena_try(arena, count * sizeof *items + raw.len + 1);
    if (items == NULL)
        return -ENOMEM;
    char *to = (char *)(items + count);
    for (cg_field *item = items; next_pair(&raw, &pair); item++) {
        cg_str name, value;
        bool has_value = str_cut(pair, '=', &name, &value);
        to = decode(name.ptr, name.len, to, &item->name);
        if (has_value)
            to = decode(value.ptr, value.len, to, &item->value);
        else
            item->value = cg_bytes(to - 1, 0);
    }
    *ret_pairs = (cg_fields){items, count};
    return 0;
}
