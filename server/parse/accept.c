#include "parse/accept.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

#include <stdbool.h>

/* "0", "0.5", "1.000": three digits behind the point at most. False for anything else. */
static bool parse_weight(cg_str text, int *ret_weight)
{
    static const int places[] = {100, 10, 1};
    if (text.len == 0 || text.len > 5 || text.ptr[0] < '0' || text.ptr[0] > '1' ||
        (text.len > 1 && text.ptr[1] != '.'))
        return false;
    int weight = (text.ptr[0] - '0') * ACCEPT_FULL;
    for (size_t i = 2; i < text.len; i++) {
        if (!byte_is_digit(text.ptr[i]))
            return false;
        weight += (text.ptr[i] - '0') * places[i - 2];
    }
    *ret_weight = weight;
    return weight <= ACCEPT_FULL;
}

/* Splits "gzip;q=0.5" up. False when its weight is malformed. */
static bool parse_item(cg_str item, cg_str *ret_name, int *ret_weight)
{
    cg_str part;
    str_cut(item, ';', &part, &item);
    *ret_name = blank_trim(part);
    *ret_weight = ACCEPT_FULL;
    while (item.len > 0) {
        str_cut(item, ';', &part, &item);
        part = blank_trim(part);
        if (part.len >= 2 && byte_lower(part.ptr[0]) == 'q' && part.ptr[1] == '=')
            return parse_weight(cg_bytes(part.ptr + 2, part.len - 2), ret_weight);
    }
    return true;
}

int accept_weight(cg_str list, const char *name)
{
    cg_str item, found;
    int weight;
    while (list_next(&list, &item))
        if (parse_item(item, &found, &weight) && token_equal(found, name))
            return weight;
    return ACCEPT_UNNAMED;
}

static void set_once(int *slot, int weight)
{
    if (*slot == ACCEPT_UNNAMED)
        *slot = weight;
}

void accept_encoding_read(struct accept_encoding *encoding, cg_str list)
{
    cg_str item, name;
    int weight;
    while (list_next(&list, &item)) {
        if (!parse_item(item, &name, &weight))
            continue;
        if (token_equal(name, "gzip") || token_equal(name, "x-gzip"))
            set_once(&encoding->gzip, weight);
        else if (token_equal(name, "br"))
            set_once(&encoding->brotli, weight);
        else if (token_equal(name, "identity"))
            set_once(&encoding->identity, weight);
    }
}
