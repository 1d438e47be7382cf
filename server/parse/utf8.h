/* UTF-8 (RFC 3629, section 4), checked as its bytes arrive. */
#ifndef PARSE_UTF8_H
#define PARSE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed is the start of a text. */
struct utf8 {
    uint8_t left;      /* bytes that the character begun still needs */
    uint8_t low, high; /* what the next one of them may be */
};

/* False: it is none, whatever follows; utf8 is then of no use any more. */
bool utf8_feed(struct utf8 *utf8, const char *text, size_t len);
/* Whether the text may end here: the last character is whole. */
static inline bool utf8_is_whole(const struct utf8 *utf8)
{
    return utf8->left == 0;
}

bool utf8_valid(const char *text, size_t len);

/* Length of the character at text, 1 to 4; 0 when none begins there. */
size_t utf8_length(const char *text, size_t len);

#endif
