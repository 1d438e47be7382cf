/* Origins, as browsers tell them (RFC 6454, section 6.2): scheme, host and port. */
#ifndef PARSE_ORIGIN_H
#define PARSE_ORIGIN_H

#include <cloudgate.h>
#include <stdbool.h>

#define ORIGIN_MAX 320 /* bytes, the NUL at the end included */

/* In the one form in which two of them are equal byte by byte: lower case, without the port that the scheme
   implies, terminated. False: it is none ("null", a path at its end, a host that can't be). */
bool origin_normalise(cg_str text, char out[ORIGIN_MAX]);

/* Whether its host and port are those of a Host field. */
bool origin_is_of_host(cg_str origin, cg_str host);

#endif
