#include "app/json_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_ESCAPE 6 /* \u001f */

static bool is_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t utf8_length(const char *text, size_t len)
{
    const unsigned char *b = (const unsigned char *)text;
    if (len == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    if (b[0] >= 0xc2 && b[0] <= 0xdf)
        return len >= 2 && is_tail(b[1]) ? 2 : 0;
    if (b[0] >= 0xe0 && b[0] <= 0xef) {
        unsigned char lowest = b[0] == 0xe0 ? 0xa0 : 0x80, highest = b[0] == 0xed ? 0x9f : 0xbf;
        return len >= 3 && b[1] >= lowest && b[1] <= highest && is_tail(b[2]) ? 3 : 0;
    }
    if (b[0] >= 0xf0 && b[0] <= 0xf4) {
        unsigned char lowest = b[0] == 0xf0 ? 0x90 : 0x80, highest = b[0] == 0xf4 ? 0x8f : 0xbf;
        return len >= 4 && b[1] >= lowest && b[1] <= highest && is_tail(b[2]) && is_tail(b[3]) ? 4 : 0;
    }
    return 0;
}

static char *put_ascii(char *out, char c)
{
    static const char short_for[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *pair = short_for; *pair != '\0'; pair += 2) {
        if (c == pair[0]) {
            *out++ = '\\';
            *out++ = pair[1];
            return out;
        }
    }
    if ((unsigned char)c < 0x20 || c == '<' || c == 0x7f)
        return out + sprintf(out, "\\u%04x", (unsigned char)c);
    *out++ = c;
    return out;
}

cg_str json_quote(struct arena *arena, cg_str text)
{
    char *start = arena_alloc(arena, text.len * LONGEST_ESCAPE + 3), *out = start;
    *out++ = '"';
    for (size_t i = 0, step; i < text.len; i += step) {
        size_t len = utf8_length(text.ptr + i, text.len - i);
        step = len ? len : 1;
        if (len == 1) {
            out = put_ascii(out, text.ptr[i]);
        } else {
            const char *bytes = len ? text.ptr + i : "\xef\xbf\xbd";
            size_t count = len ? len : 3;
            memcpy(out, bytes, count);
            out += count;
        }
    }
    *out++ = '"';
    *out = '\0';
    return cg_bytes(start, (size_t)(out - start));
}
