#include "parse/forwarded.h"

#include "base/str.h"
#include "parse/field.h"

#include <string.h>

static bool is_trusted(const struct address *address, const struct network *trusted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (network_contains(&trusted[i], address))
            return true;
    return false;
}

/* "192.0.2.7:4711" and "[2001:db8::1]:4711" are written by some. */
static cg_str without_port(cg_str text)
{
    const char *end;
    if (text.len > 0 && text.ptr[0] == '[') {
        end = memchr(text.ptr, ']', text.len);
        return end ? cg_bytes(text.ptr + 1, (size_t)(end - text.ptr - 1)) : text;
    }
    end = memchr(text.ptr, ':', text.len);
    if (end == NULL || memchr(end + 1, ':', text.len - (size_t)(end + 1 - text.ptr)) != NULL)
        return text;
    return cg_bytes(text.ptr, (size_t)(end - text.ptr));
}

/* Walks over one line. false: the walk is over. */
static bool walk(cg_str line, const struct network *trusted, size_t count, cg_str *client)
{
    while (line.len > 0) {
        const char *comma = memrchr(line.ptr, ',', line.len);
        const char *start = comma ? comma + 1 : line.ptr;
        cg_str hop = blank_trim(cg_bytes(start, line.len - (size_t)(start - line.ptr)));
        struct address address;
        hop = without_port(hop);
        if (address_parse(hop, &address) != 0)
            return false;
        *client = hop;
        if (!is_trusted(&address, trusted, count))
            return false;
        line.len = comma ? (size_t)(comma - line.ptr) : 0;
    }
    return true;
}

cg_str forwarded_client(cg_str peer, const cg_fields *fields, const struct network *trusted, size_t count)
{
    cg_str client = peer;
    struct address address;
    if (address_parse(peer, &address) != 0 || !is_trusted(&address, trusted, count))
        return peer;
    for (size_t i = fields->count; i > 0; i--) {
        const cg_field *field = &fields->items[i - 1];
        if (str_is(field->name, "x-forwarded-for") && !walk(field->value, trusted, count, &client))
            break;
    }
    return client;
}
