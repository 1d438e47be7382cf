#include "app/template.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A stretch of literal text, or a place for a value. */
struct segment {
    cg_str text; /* the text itself, or the name */
    enum { LITERAL, ESCAPED, RAW } kind;
};

struct page_template {
    char *text; /* segments are slices of it */
    struct segment *segments;
    size_t count, capacity;
};

static void add_segment(struct page_template *page, int kind, const char *start, const char *end)
{
    if (start == end)
        return;
    page->segments = xgrow(page->segments, page->count, &page->capacity, sizeof *page->segments);
    page->segments[page->count++] = (struct segment){cg_bytes(start, (size_t)(end - start)), kind};
}

static bool is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || c == '.' || (unsigned char)c > 127;
}

/* The NUL behind the text stops every loop. */
static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Reads a place that begins at start with that many braces; the place behind it, or NULL when there is
   none. */
static const char *read_place(const char *start, size_t braces, cg_str *ret_name)
{
    if (strncmp(start, "{{{", braces) != 0)
        return NULL;
    const char *name = skip_blanks(start + braces), *end = name;
    while (is_name_byte(*end))
        end++;
    const char *close = skip_blanks(end);
    if (end == name || strncmp(close, "}}}", braces) != 0)
        return NULL;
    *ret_name = cg_bytes(name, (size_t)(end - name));
    return close + braces;
}

struct page_template *template_parse(cg_str text)
{
    struct page_template *page = xzalloc(sizeof *page);
    page->text = xstrndup(text.ptr, text.len);
    const char *literal = page->text, *end = page->text + text.len;
    for (const char *at = literal; (at = memchr(at, '{', (size_t)(end - at))) != NULL;) {
        cg_str name;
        int kind = RAW;
        const char *behind = read_place(at, 3, &name);
        if (behind == NULL) {
            kind = ESCAPED;
            behind = read_place(at, 2, &name);
        }
        if (behind == NULL) {
            at++;
            continue;
        }
        add_segment(page, LITERAL, literal, at);
        add_segment(page, kind, name.ptr, name.ptr + name.len);
        literal = at = behind;
    }
    add_segment(page, LITERAL, literal, end);
    return page;
}

void template_destroy(struct page_template *page)
{
    if (page == NULL)
        return;
    free(page->segments);
    free(page->text);
    free(page);
}

static cg_str reference_of(char c)
{
    switch (c) {
    case '&':
        return STR("&amp;");
    case '<':
        return STR("&lt;");
    case '>':
        return STR("&gt;");
    case '"':
        return STR("&quot;");
    case '\'':
        return STR("&#39;");
    default:
        return cg_bytes(NULL, 0);
    }
}

static size_t escaped_size(cg_str text)
{
    size_t size = text.len;
    for (size_t i = 0; i < text.len; i++) {
        size_t len = reference_of(text.ptr[i]).len;
        size += len ? len - 1 : 0;
    }
    return size;
}

static char *put(char *to, cg_str text)
{
    if (text.len > 0)
        memcpy(to, text.ptr, text.len);
    return to + text.len;
}

static char *put_escaped(char *to, cg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        cg_str reference = reference_of(text.ptr[i]);
        if (reference.len > 0)
            to = put(to, reference);
        else
            *to++ = text.ptr[i];
    }
    return to;
}

static cg_str value_of(cg_str name, const cg_field *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(values[i].name, name))
            return values[i].value;
    return STR("");
}

static cg_str text_of(const struct segment *segment, const cg_field *values, size_t count)
{
    return segment->kind == LITERAL ? segment->text : value_of(segment->text, values, count);
}

cg_str template_render(const struct page_template *page, struct arena *arena, const cg_field *values,
                       size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < page->count; i++) {
        cg_str text = text_of(&page->segments[i], values, count);
        size += page->segments[i].kind == ESCAPED ? escaped_size(text) : text.len;
    }
    char *out = arena_alloc(arena, size + 1), *to = out;
    for (size_t i = 0; i < page->count; i++) {
        cg_str text = text_of(&page->segments[i], values, count);
        to = page->segments[i].kind == ESCAPED ? put_escaped(to, text) : put(to, text);
    }
    *to = '\0';
    return cg_bytes(out, size);
}

cg_str html_escape(struct arena *arena, cg_str text)
{
    size_t size = escaped_size(text);
    char *out = arena_alloc(arena, size + 1);
    *put_escaped(out, text) = '\0';
    return cg_bytes(out, size);
}
