/* HTTP's content codings (RFC 9110, 8.4.1): bytes made smaller, or compared with what they were made of. */
#ifndef APP_CODING_H
#define APP_CODING_H

#include <stdbool.h>
#include <stddef.h>

enum coding {
    CODING_IDENTITY, /* the bytes as they are */
    CODING_GZIP,
    CODING_BROTLI,
    CODING_COUNT
};

enum effort {
    EFFORT_FAST, /* for one answer: some ms per MB */
    EFFORT_BEST, /* once for many: up to about a second, whatever the size */
};

#define CODING_MIN_SIZE 256 /* below this nothing is won */

const char *coding_name(enum coding coding); /* as in Content-Encoding; NULL for identity */

/* Bytes put into out; 0 when they are more than size. The same input always gives the same output. */
size_t coding_pack(enum coding coding, enum effort effort, const char *data, size_t len, char *out,
                   size_t size);

/* The most that a packed form of len bytes may take to be worth its while. */
size_t coding_worth(size_t len);

/* Whether packed is a whole and valid form of exactly these bytes. */
bool coding_holds(enum coding coding, const char *packed, size_t packed_len, const char *data, size_t len);

#endif
