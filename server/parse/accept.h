/* What a client would rather get: Accept and Accept-Encoding (RFC 9110, 12.4.2, 12.5.1 and 12.5.3). */
#ifndef PARSE_ACCEPT_H
#define PARSE_ACCEPT_H

#include <cloudgate.h>

/* An item's weight in thousandths. */
#define ACCEPT_UNNAMED (-1) /* the list does not name it */
#define ACCEPT_FULL 1000

/* The weight that list gives to name (in lower case), by its name alone: "*" says nothing about it. Items
   with a malformed weight are as if they were not there; of an item named twice the first counts; parameters
   other than q do not matter. */
int accept_weight(cg_str list, const char *name);

/* What Accept-Encoding says of the codings there are. */
struct accept_encoding {
    int gzip, brotli, identity;
};

#define ACCEPT_ENCODING_NONE ((struct accept_encoding){ACCEPT_UNNAMED, ACCEPT_UNNAMED, ACCEPT_UNNAMED})

/* Adds one line of the field to what the lines before it said. */
void accept_encoding_read(struct accept_encoding *encoding, cg_str list);

/* Whether a coding of that weight may be sent, and is not liked less than the bytes as they are: a coding
   must be named. When nothing that there is would be acceptable ("*;q=0"), identity is sent all the same. */
static inline int accept_prefers(const struct accept_encoding *encoding, int weight)
{
    return weight > 0 && weight >= encoding->identity;
}

#endif
