#include "parse/field.h"

#include "base/str.h"
#include "parse/bytes.h"

#include <arpa/inet.h>

static bool all_of(const char *ptr, size_t len, uint8_t wanted)
{
    for (size_t i = 0; i < len; i++)
        if (!(byte_class(ptr[i]) & wanted))
            return false;
    return true;
}

bool field_name_valid(cg_str name)
{
    return name.len > 0 && all_of(name.ptr, name.len, BYTE_TOKEN);
}

bool field_value_valid(cg_str value)
{
    return value.ptr != NULL && all_of(value.ptr, value.len, BYTE_VALUE);
}

/* What follows the name or address: nothing, or ":port". */
static bool port_valid(const char *ptr, size_t len)
{
    unsigned port = 0;
    if (len == 0)
        return true;
    if (ptr[0] != ':' || len > 6)
        return false;
    for (size_t i = 1; i < len; i++) {
        if (!byte_is_digit(ptr[i]))
            return false;
        port = 10 * port + (unsigned)(ptr[i] - '0');
    }
    return port <= 65535;
}

static bool ipv6_valid(cg_str host)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed;
    const char *close = memchr(host.ptr, ']', host.len);
    if (close == NULL)
        return false;
    size_t len = (size_t)(close - host.ptr) - 1;
    if (len >= sizeof address || memchr(host.ptr, '\0', len + 1) != NULL)
        return false;
    memcpy(address, host.ptr + 1, len);
    address[len] = '\0';
    return inet_pton(AF_INET6, address, &parsed) == 1 && port_valid(close + 1, host.len - len - 2);
}

bool host_valid(cg_str host)
{
    size_t name = 0;
    if (host.len == 0)
        return true;
    if (host.ptr[0] == '[')
        return ipv6_valid(host);
    while (name < host.len && byte_class(host.ptr[name]) & BYTE_UNRESERVED)
        name++;
    return name > 0 && name <= 255 && port_valid(host.ptr + name, host.len - name);
}

const cg_field *fields_first(const cg_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (str_is(fields->items[i].name, name))
            return &fields->items[i];
    return NULL;
}

const cg_field *fields_last(const cg_fields *fields, const char *name)
{
    for (size_t i = fields->count; i-- > 0;)
        if (str_is(fields->items[i].name, name))
            return &fields->items[i];
    return NULL;
}

bool token_equal(cg_str text, const char *lower)
{
    for (size_t i = 0; i < text.len; i++)
        if (lower[i] == '\0' || byte_lower(text.ptr[i]) != lower[i])
            return false;
    return lower[text.len] == '\0';
}

cg_str blank_trim(cg_str text)
{
    while (text.len > 0 && byte_is_blank(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && byte_is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

bool list_next(cg_str *rest, cg_str *ret_item)
{
    while (rest->len > 0) {
        cg_str item;
        str_cut(*rest, ',', &item, rest);
        item = blank_trim(item);
        if (item.len > 0) {
            *ret_item = item;
            return true;
        }
    }
    return false;
}

bool list_has(cg_str list, const char *lower)
{
    cg_str item;
    while (list_next(&list, &item))
        if (token_equal(item, lower))
            return true;
    return false;
}
