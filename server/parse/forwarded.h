/* Who the client is, behind proxies that one trusts: the field X-Forwarded-For, to which each of them has
   added the address that it was asked by. Read from the right, because what is left of the first stranger is
   the stranger's own invention. */
#ifndef PARSE_FORWARDED_H
#define PARSE_FORWARDED_H

#include "parse/network.h"

/* The client's address: the first from the right that no trusted network contains; the leftmost if all are
   trusted. A part of peer or of a field's value, without port and brackets, not terminated. What is no
   address ends the walk at the hop before it. fields: all of the request's, names in lower case, lines in
   their order. */
cg_str forwarded_client(cg_str peer, const cg_fields *fields, const struct network *trusted, size_t count);

#endif
