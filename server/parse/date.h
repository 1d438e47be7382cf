/* Dates of HTTP (RFC 9110, 5.6.7), always GMT, no locale. */
#ifndef PARSE_DATE_H
#define PARSE_DATE_H

#include <cloudgate.h>
#include <stdint.h>

#define DATE_SIZE 30 /* "Sun, 06 Nov 1994 08:49:37 GMT" and a NUL */

/* seconds since 1970; what lies outside of the years 1 to 9999 is written as their first or last second. */
void date_format(int64_t seconds, char out[DATE_SIZE]);

/* Reads the form above and both obsolete ones ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994").
   The name of the day must be one, but needs not to fit; a year of two digits is 1970 to 2069. A leap second
   is the one after it. -EINVAL for anything else. */
int date_parse(cg_str text, int64_t *ret_seconds);

#endif
