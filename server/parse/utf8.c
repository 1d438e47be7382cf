#include "parse/utf8.h"

#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Overlong forms, surrogates and what is above U+10FFFF show in the second byte. */
static bool begin_character(struct utf8 *utf8, uint8_t byte)
{
    utf8->low = 0x80;
    utf8->high = 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) {
        utf8->left = 1;
    } else if (byte >= 0xe0 && byte <= 0xef) {
        utf8->left = 2;
        if (byte == 0xe0)
            utf8->low = 0xa0;
        else if (byte == 0xed)
            utf8->high = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        utf8->left = 3;
        if (byte == 0xf0)
            utf8->low = 0x90;
        else if (byte == 0xf4)
            utf8->high = 0x8f;
    } else {
        return false;
    }
    return true;
}

static bool continue_character(struct utf8 *utf8, uint8_t byte)
{
    if (byte < utf8->low || byte > utf8->high)
        return false;
    utf8->low = 0x80;
    utf8->high = 0xbf;
    utf8->left--;
    return true;
}

/* Where the first byte is that is no ASCII: eight bytes at a time, because most text is nothing else. */
static const char *skip_ascii(const char *text, const char *end)
{
    uint64_t eight;
    while (end - text >= (ptrdiff_t)sizeof eight) {
        memcpy(&eight, text, sizeof eight);
        if ((eight & HIGH_BITS) != 0)
            break;
        text += sizeof eight;
    }
    while (text < end && (uint8_t)*text < 0x80)
        text++;
    return text;
}

bool utf8_feed(struct utf8 *utf8, const char *text, size_t len)
{
    const char *end = len > 0 ? text + len : text; /* which may be NULL */
    while (text < end) {
        if (utf8->left == 0) {
            text = skip_ascii(text, end);
            if (text < end && !begin_character(utf8, (uint8_t)*text++))
                return false;
            continue;
        }
        if (!continue_character(utf8, (uint8_t)*text++))
            return false;
    }
    return true;
}

bool utf8_valid(const char *text, size_t len)
{
    struct utf8 utf8 = {0};
    return utf8_feed(&utf8, text, len) && utf8_is_whole(&utf8);
}

size_t utf8_length(const char *text, size_t len)
{
    struct utf8 utf8;
    size_t size = 1;
    if (len > 0 && (uint8_t)*text < 0x80)
        return 1;
    if (len == 0 || !begin_character(&utf8, (uint8_t)*text))
        return 0;
    for (; utf8.left > 0; size++)
        if (size == len || !continue_character(&utf8, (uint8_t)text[size]))
            return 0;
    return size;
}
