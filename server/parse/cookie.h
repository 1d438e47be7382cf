/* Cookies as a client sends them (RFC 6265, 5.4; RFC 9113, 8.2.3). */
#ifndef PARSE_COOKIE_H
#define PARSE_COOKIE_H

#include "base/arena.h"

#include <cloudgate.h>

/* Splits the value of a Cookie field at ';' and the first '=' of each pair. Blanks around names and values
   are dropped, else values are verbatim: not decoded, quotes kept. Pairs without '=' or without a name are
   skipped. The order stays; names and values are copies in the arena, terminated. header must be bounded (it
   is part of a head). */
void cookie_parse(cg_str header, struct arena *arena, cg_fields *ret_cookies);

/* Makes one Cookie field of several: their values, joined by "; ", stand in the first, the others are taken
   out of fields. Names must be in lower case. */
void cookie_join(cg_field *fields, size_t *count, struct arena *arena);

#endif
