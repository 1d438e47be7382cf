/* The chunked transfer coding (RFC 9112, 7.1), decoded as it arrives, read strictly. */
#ifndef PARSE_CHUNKED_H
#define PARSE_CHUNKED_H

#include <cloudgate.h>
#include <stdint.h>

#define CHUNKED_LINE_MAX 256   /* bytes of a line with a chunk's size and its extensions */
#define CHUNKED_EXTRA_MAX 8192 /* bytes of all extensions and trailers of a body */
#define CHUNKED_DIGITS_MAX 16  /* of a chunk's size */

/* Zeroed is the start; the caller may set limit, the rest is the decoder's. */
struct chunked {
    uint64_t limit;    /* most bytes of payload; 0 = none */
    uint64_t received; /* bytes of payload promised so far: a chunk counts as soon as its size is known */
    uint64_t left;     /* bytes of the current chunk still to come, or the size as far as it is read */
    uint16_t line;     /* bytes of the current size line */
    uint16_t extra;    /* bytes of extensions and trailers so far */
    uint8_t state;
};

/* Takes the next bytes: *ret_used of them are consumed, *ret_data is the payload among those (maybe none; it
   points into data and is not terminated). 0: go on, with the rest at once when *ret_used < size. 1: the body
   is complete, its trailers were checked and dropped; what lies behind *ret_used belongs to the next request.
   Else, for good: -400  malformed -413  more payload than limit, a chunk above INT64_MAX, too many bytes of
   extensions or trailers */
int chunked_feed(struct chunked *chunked, const char *data, size_t size, size_t *ret_used, cg_str *ret_data);

#endif
