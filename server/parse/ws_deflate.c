#include "parse/ws_deflate.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

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
    cg_str name, value;
    const bool has_value = str_cut(text, '=', &name, &value);
    const unsigned parameter = parameter_named(blank_trim(name));
    const int bits = has_value ? bits_of(value) : 0;
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
    cg_str part;
    str_cut(offer, ';', &part, &offer);
    if (!token_equal(blank_trim(part), "permessage-deflate"))
        return false;
    while (offer.len > 0) {
        str_cut(offer, ';', &part, &offer);
        if (!take_parameter(blank_trim(part), &seen, &deflate))
            return false;
    }
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
