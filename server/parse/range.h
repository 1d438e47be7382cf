/* The Range field of a request (RFC 9110, 14.1.2 and 14.2). */
#ifndef PARSE_RANGE_H
#define PARSE_RANGE_H

#include <cloudgate.h>
#include <stdint.h>

#define RANGE_MAX 16 /* more than these are not worth an answer in parts */

struct range {
    uint64_t first, last; /* positions of bytes, both inside */
};

/* Reads the value against a representation of size bytes. Returns how many of the ranges can be served, in
   the order asked for; 0: none of them (416). -EINVAL: the field is to be ignored, as it is malformed, of
   another unit, or asks for the same byte twice; -E2BIG: the same, for more than RANGE_MAX. A suffix of a
   representation without bytes is all of it, which is -EINVAL as well. Numbers of any length are
   understood. */
int range_parse(cg_str value, uint64_t size, struct range ret_ranges[RANGE_MAX]);

#endif
