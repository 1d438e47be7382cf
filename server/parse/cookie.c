#include "parse/cookie.h"

#include "base/str.h"
#include "parse/field.h"

#include <stdbool.h>

/* The next pair that has a name; false at the end. */
static bool next_cookie(cg_str *rest, cg_field *ret_cookie)
{
    while (rest->len > 0) {
        cg_str pair, name, value;
        str_cut(*rest, ';', &pair, rest);
        if (!str_cut(pair, '=', &name, &value))
            continue;
        name = blank_trim(name);
        if (name.len == 0)
            continue;
        *ret_cookie = (cg_field){name, blank_trim(value)};
        return true;
    }
    return false;
}

static char *put(char *to, cg_str *text)
{
    memcpy(to, text->ptr, text->len);
    to[text->len] = '\0';
    *text = cg_bytes(to, text->len);
    return to + text->len + 1;
}

void cookie_parse(cg_str header, struct arena *arena, cg_fields *ret_cookies)
{
    cg_field cookie;
    size_t count = 0;
    for (cg_str rest = header; next_cookie(&rest, &cookie);)
        count++;
    if (count == 0) {
        *ret_cookies = (cg_fields){NULL, 0};
        return;
    }
    /* The two NULs of a cookie have the place of its '=' and ';', which the last one lacks. */
    cg_field *items = arena_alloc(arena, count * sizeof *items + header.len + 1);
    char *to = (char *)(items + count);
    for (cg_field *item = items; next_cookie(&header, item); item++) {
        to = put(to, &item->name);
        to = put(to, &item->value);
    }
    *ret_cookies = (cg_fields){items, count};
}

static bool is_cookie(const cg_field *field)
{
    return str_is(field->name, "cookie");
}

static cg_str joined(const cg_field *fields, size_t count, size_t size, struct arena *arena)
{
    char *text = arena_alloc(arena, size + 1), *to = text;
    for (size_t i = 0; i < count; i++) {
        if (!is_cookie(&fields[i]) || fields[i].value.len == 0)
            continue;
        if (to > text)
            to = mempcpy(to, "; ", 2);
        to = mempcpy(to, fields[i].value.ptr, fields[i].value.len);
    }
    *to = '\0';
    return cg_bytes(text, (size_t)(to - text));
}

void cookie_join(cg_field *fields, size_t *count, struct arena *arena)
{
    size_t cookies = 0, size = 0, kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (is_cookie(&fields[i])) {
            cookies++;
            size += fields[i].value.len + 2;
        }
    }
    if (cookies < 2)
        return;
    cg_str value = joined(fields, *count, size, arena);
    bool first = true;
    for (size_t i = 0; i < *count; i++) {
        if (!is_cookie(&fields[i])) {
            fields[kept++] = fields[i];
        } else if (first) {
            first = false;
            fields[kept++] = (cg_field){fields[i].name, value};
        }
    }
    *count = kept;
}
