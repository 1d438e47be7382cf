#include "parse/ws_deflate.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

#include <string.h>

/* Each may stand once in an offer. */
enum parameter {
    SERVER_NO_TAKEOVER = 1,
    CLIENT_NO_TAKEOVER = 2,
    SERVER_BITS = 4,
    CLIENT_BITS = 8,
};

static const struct {
    const char *name;
    enum parameter parameter;
} parameters[] = {
    {"server_no_context_takeover", SERVER_NO_TAKEOVER},
    {"client_no_context_takeover", CLIENT_NO_TAKEOVER},
    {"server_max_window_bits", SERVER_BITS},
    {"client_max_window_bits", CLIENT_BITS},
};

static cg_str take_until(cg_str *rest, char end)
{
    const char *found = memchr(rest->ptr, end, rest->len);
    cg_str part = cg_bytes(rest->ptr, found ? (size_t)(found - rest->ptr) : rest->len);
    size_t used = part.len + (found ? 1 : 0);
    rest->ptr += used;
    rest->len -= used;
    return blank_trim(part);
}

/* 8 to 15 without leading zeros, maybe in quotes; 0: it is none. */
static int bits_of(cg_str value)
{
    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        value = cg_bytes(value.ptr + 1, value.len - 2);
    if (value.len == 1 && (value.ptr[0] == '8' || value.ptr[0] == '9'))
        return value.ptr[0] - '0';
    if (value.len == 2 && value.ptr[0] == '1' && value.ptr[1] >= '0' && value.ptr[1] <= '5')
        return 10 + value.ptr[1] - '0';
    return 0;
}

static unsigned parameter_named(cg_str name)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (token_equal(name, parameters[i].name))
            return parameters[i].parameter;
    return 0;
}

/* False: the offer can't be met. */
static bool take_parameter(cg_str text, unsigned *seen, struct ws_deflate *deflate)
{
    const bool has_value = memchr(text.ptr, '=', text.len) != NULL;
    const unsigned parameter = parameter_named(take_until(&text, '='));
    const int bits = has_value ? bits_of(text) : 0;
    if (parameter == 0 || (*seen & parameter) != 0)
        return false;
    *seen |= parameter;
    switch (parameter) {
    case SERVER_BITS:
        deflate->bits = bits;
        deflate->bits_asked = true;
        return bits >= WS_DEFLATE_BITS_MIN;
    case CLIENT_BITS:
        deflate->client_bits = has_value ? bits : WS_DEFLATE_BITS_MAX;
        return !has_value || bits != 0;
    default:
        return !has_value;
    }
}

static bool accept(cg_str offer, struct ws_deflate *ret_deflate)
{
    struct ws_deflate deflate = {.bits = WS_DEFLATE_BITS_MAX};
    unsigned seen = 0;
    if (!token_equal(take_until(&offer, ';'), "permessage-deflate"))
        return false;
    while (offer.len > 0)
        if (!take_parameter(take_until(&offer, ';'), &seen, &deflate))
            return false;
    deflate.server_keeps = (seen & SERVER_NO_TAKEOVER) == 0;
    deflate.client_keeps = (seen & CLIENT_NO_TAKEOVER) == 0;
    *ret_deflate = deflate;
    return true;
}

bool ws_deflate_accept(cg_str offers, struct ws_deflate *ret_deflate)
{
    cg_str offer;
    while (list_next(&offers, &offer))
        if (accept(offer, ret_deflate))
            return true;
    return false;
}
