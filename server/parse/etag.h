/* Entity tags (RFC 9110, 8.8.3, 13.1.1 and 13.1.2). */
#ifndef PARSE_ETAG_H
#define PARSE_ETAG_H

#include <cloudgate.h>
#include <stdbool.h>

/* Whether list, the value of an If-None-Match field, is "*" or holds etag (as sent: quoted, maybe with W/),
   compared weakly: W/ does not count. What comes behind a malformed item is ignored. */
bool etag_matches(cg_str list, cg_str etag);

/* The same for If-Match and If-Range, compared strongly: a weak tag on either side never matches. */
bool etag_matches_strongly(cg_str list, cg_str etag);

#endif
