/* Percent-encoding (RFC 3986, 2.1). */
#ifndef PARSE_PERCENT_H
#define PARSE_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

/* The byte that stands at text ("%41" is 'A'), or -1 when the len bytes there begin no complete escape. */
int percent_byte(const char *text, size_t len);

/* Decodes once into out (len + 1 bytes; may be text itself) and returns the length; a NUL is put behind it.
   What is no escape stays as it is. form: as in application/x-www-form-urlencoded, '+' is a blank. */
size_t percent_decode(const char *text, size_t len, bool form, char *out);

/* Writes the three characters of byte's escape, in upper case; returns the place behind them. */
char *percent_put(char *out, char byte);

#endif
