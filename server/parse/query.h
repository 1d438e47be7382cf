/* Query strings and urlencoded forms (application/x-www-form-urlencoded of the WHATWG URL standard). */
#ifndef PARSE_QUERY_H
#define PARSE_QUERY_H

#include "base/arena.h"

#include <cloudgate.h>

/* Splits raw at '&' and the first '=' of each pair, then decodes names and values once: '+' is a blank, a '%'
   that begins no escape stays. Empty pairs are skipped, "=v" has the empty name, "a" the empty value, ';' is
   data. The pairs keep their order; they are copies in the arena, terminated, and may hold NULs ("%00").
   -E2BIG: more than `most` pairs. -ENOMEM. */
int query_parse(cg_str raw, size_t most, struct arena *arena, cg_fields *ret_pairs);

#endif
