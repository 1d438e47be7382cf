/* What a byte may be part of, in one table that all parsers share. */
#ifndef PARSE_BYTES_H
#define PARSE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define BYTE_TOKEN 0x01      /* tchar of RFC 9110, 5.6.2 */
#define BYTE_VALUE 0x02      /* field-vchar, blank and HTAB of RFC 9110, 5.5 */
#define BYTE_TARGET 0x04     /* visible ASCII but '#': what may stand in a request target */
#define BYTE_UNRESERVED 0x08 /* RFC 3986, 2.3 */
#define BYTE_PATH 0x10       /* pchar of RFC 3986 and '/', without '%' */
#define BYTE_UPPER 0x20      /* A to Z: `byte | (class & BYTE_UPPER)` is the byte in lower case */
#define BYTE_BOUNDARY 0x40   /* bchars of RFC 2046, 5.1.1 */

extern const uint8_t byte_classes[256];

static inline uint8_t byte_class(char byte)
{
    return byte_classes[(uint8_t)byte];
}

static inline char byte_lower(char byte)
{
    return (char)(byte | (byte_class(byte) & BYTE_UPPER));
}

static inline bool byte_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static inline bool byte_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* 0 to 15, or -1 when byte is no hexadecimal digit. */
static inline int byte_hex(char byte)
{
    if (byte_is_digit(byte))
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

#endif
