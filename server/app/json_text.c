#include "app/json_text.h"

#include "parse/utf8.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_ESCAPE 6 /* \u001f */

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
