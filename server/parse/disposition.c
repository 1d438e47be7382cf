#include "parse/disposition.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"
#include "parse/percent.h"

#include <stdbool.h>

/* Whether nothing but blanks stands between at and the next ';' or the end; *ret_next is that place. */
static bool value_closes(char *at, char *end, char **ret_next)
{
    while (at < end && byte_is_blank(*at))
        at++;
    *ret_next = at;
    return at == end || *at == ';';
}

/* Between quotes. Moves the bytes together, since a dropped backslash leaves a gap. */
static char *take_quoted(char *at, char *end, cg_str *ret_value)
{
    char *value = at, *to = at, *next;
    for (; at < end; at++) {
        if (*at == '"' && value_closes(at + 1, end, &next)) {
            *to = '\0';
            *ret_value = cg_bytes(value, (size_t)(to - value));
            return next;
        }
        if (*at == '"' && to > value && to[-1] == '\\')
            to--;
        *to++ = *at;
    }
    return NULL;
}

static char *take_plain(char *at, char *end, cg_str *ret_value)
{
    char *stop = memchr(at, ';', (size_t)(end - at));
    if (stop == NULL)
        stop = end;
    *ret_value = blank_trim(cg_bytes(at, (size_t)(stop - at)));
    return stop;
}

/* "UTF-8'en'na%C3%AFve.txt": decoded in place. What decodes to control bytes is not believed. */
static bool decode_extended(cg_str *value)
{
    char *language = memchr(value->ptr, '\'', value->len);
    if (language == NULL || !token_equal(cg_bytes(value->ptr, (size_t)(language - value->ptr)), "utf-8"))
        return false;
    size_t left = value->len - (size_t)(language + 1 - value->ptr);
    char *text = memchr(language + 1, '\'', left);
    if (text == NULL)
        return false;
    text++;
    size_t len = percent_decode(text, value->len - (size_t)(text - value->ptr), false, text);
    *value = cg_bytes(text, len);
    return field_value_valid(*value);
}

/* `at` is behind a ';'. Takes `name` or `name=value`; NULL when a quote stays open. */
static char *take_parameter(char *at, char *end, cg_str *ret_name, cg_str *ret_value)
{
    char *name = at;
    while (at < end && *at != '=' && *at != ';')
        at++;
    *ret_name = blank_trim(cg_bytes(name, (size_t)(at - name)));
    *ret_value = cg_bytes(at, 0);
    if (at == end || *at == ';')
        return at;
    do
        at++;
    while (at < end && byte_is_blank(*at));
    return at < end && *at == '"' ? take_quoted(at + 1, end, ret_value) : take_plain(at, end, ret_value);
}

static void keep_first(cg_str *kept, cg_str value)
{
    if (kept->ptr == NULL)
        *kept = value;
}

/* Only now, when all is read: the NUL of a plain value may have to stand on the ';' behind it. */
static cg_str terminated(char *value, cg_str part)
{
    if (part.ptr == NULL)
        return STR("");
    value[(size_t)(part.ptr - value) + part.len] = '\0';
    return part;
}

int disposition_parse(char *value, size_t len, cg_str *ret_name, cg_str *ret_filename)
{
    cg_str name = {0}, filename = {0}, extended = {0}, key, text;
    char *end = value + len, *at = memchr(value, ';', len);
    while (at != NULL && at < end) {
        at = take_parameter(at + 1, end, &key, &text);
        if (at == NULL)
            return -400;
        if (token_equal(key, "name"))
            keep_first(&name, text);
        else if (token_equal(key, "filename"))
            keep_first(&filename, text);
        else if (token_equal(key, "filename*"))
            keep_first(&extended, text);
    }
    if (filename.ptr == NULL && extended.ptr != NULL)
        filename = decode_extended(&extended) ? extended : cg_bytes(extended.ptr, 0);
    *ret_name = terminated(value, name);
    *ret_filename = filename.ptr ? terminated(value, filename) : filename;
    return 0;
}
