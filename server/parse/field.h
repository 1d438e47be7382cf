/* Field lines of HTTP: what may stand in them (RFC 9110, 5.5, 5.6 and 7.2). */
#ifndef PARSE_FIELD_H
#define PARSE_FIELD_H

#include <cloudgate.h>
#include <stdbool.h>

bool field_name_valid(cg_str name); /* a token, not empty */

/* No control byte but HTAB. Blanks at the ends are valid here: they carry no meaning and a receiver drops
   them. An absent value (NULL) is not valid. */
bool field_value_valid(cg_str value);

/* A name, an IPv4 address or an IPv6 one in brackets, then maybe ":port" (0 to 65535; an empty one is legal).
   Names are of letters, digits, '-', '.', '_' and '~', 255 bytes at most: what RFC 3986 allows beyond that
   (percent escapes, sub-delimiters) no DNS name has, and a comma or '@' is an attack. The empty host is
   valid. */
bool host_valid(cg_str host);

/* Of that very name, also of parameters; NULL when there is none. */
const cg_field *fields_first(const cg_fields *fields, const char *name);
const cg_field *fields_last(const cg_fields *fields, const char *name);

/* Whether text is `lower` (a C string in lower case), in any case. */
bool token_equal(cg_str text, const char *lower);

/* Takes the next item of a comma-separated list off *rest; blanks around it are trimmed, empty items skipped.
   Items are not terminated by NUL. False, and *ret_item untouched, when there is none left. */
bool list_next(cg_str *rest, cg_str *ret_item);

/* Whether `lower` is an item of the list, in any case. */
bool list_has(cg_str list, const char *lower);

/* Without the blanks and HTABs at both ends. */
cg_str blank_trim(cg_str text);

#endif
