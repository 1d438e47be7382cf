#include "config/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static unsigned hex4(const char *digits)
{
    char text[5] = {digits[0], digits[1], digits[2], digits[3], '\0'};
    return (unsigned)strtoul(text, NULL, 16);
}

/* At the opening quote of a string that jansson found valid; surrogate pairs become one escape of 32 bits. */
static const char *copy_string(const char *p, char **out)
{
    *(*out)++ = *p++;
    while (*p != '"') {
        if (*p != '\\') {
            *(*out)++ = *p++;
            continue;
        }
        unsigned high = p[1] == 'u' ? hex4(p + 2) : 0;
        if (high >= 0xd800 && high < 0xdc00) {
            unsigned code = 0x10000 + ((high - 0xd800) << 10) + (hex4(p + 8) - 0xdc00);
            *out += sprintf(*out, "\\U%08X", code); /* 10 bytes for 12 */
            p += 12;
        } else {
            *(*out)++ = *p++;
            *(*out)++ = *p++;
        }
    }
    *(*out)++ = *p++;
    return p;
}

/* libyaml wants a key and its ':' in one line, and no tab where a token could start. */
static const char *copy_blanks(const char *p, const char *end, char **out)
{
    const char *stop = p;
    while (stop < end && is_blank(*stop))
        stop++;
    bool colon = stop < end && *stop == ':';
    if (colon)
        *(*out)++ = ':';
    for (; p < stop; p++)
        *(*out)++ = *p == '\t' ? ' ' : *p;
    return stop + colon;
}

bool json_to_yaml(cg_str text, const char *file, struct arena *arena, struct problems *problems,
                  cg_str *ret_text)
{
    json_error_t error;
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
        text = cg_bytes(text.ptr + 3, text.len - 3);
    const char *p = text.ptr, *end = text.ptr + text.len;
    size_t blanks = 0;
    while (blanks < text.len && is_blank(p[blanks]))
        blanks++;
    if (blanks == text.len) { /* an empty file is all defaults, in JSON too */
        *ret_text = cg_bytes("", 0);
        return true;
    }
    json_t *json = json_loadb(text.ptr, text.len, JSON_DECODE_ANY, &error);
    if (json == NULL) {
        problems_add(problems, "%s:%d: %s", file, error.line > 0 ? error.line : 1, error.text);
        return false;
    }
    json_decref(json);
    char *copy = arena_alloc(arena, text.len + 1), *out = copy;
    while (p < end) {
        if (*p == '"')
            p = copy_string(p, &out);
        else if (is_blank(*p))
            p = copy_blanks(p, end, &out);
        else
            *out++ = *p++;
    }
    *out = '\0';
    *ret_text = cg_bytes(copy, (size_t)(out - copy));
    return true;
}
