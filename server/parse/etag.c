#include "parse/etag.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

/* Takes a tag off the front: *ret_tag is it with its quotes, without W/. */
static bool take_tag(cg_str *rest, cg_str *ret_tag, bool *ret_weak)
{
    const char *at = rest->ptr, *end = at + rest->len;
    *ret_weak = end - at >= 2 && at[0] == 'W' && at[1] == '/';
    if (*ret_weak)
        at += 2;
    if (at == end || *at != '"')
        return false;
    const char *close = memchr(at + 1, '"', (size_t)(end - at) - 1);
    if (close == NULL)
        return false;
    *ret_tag = cg_bytes(at, (size_t)(close - at) + 1);
    *rest = cg_bytes(close + 1, (size_t)(end - close) - 1);
    return true;
}

static void skip_separators(cg_str *rest)
{
    while (rest->len > 0 && (byte_is_blank(rest->ptr[0]) || rest->ptr[0] == ','))
        *rest = cg_bytes(rest->ptr + 1, rest->len - 1);
}

static bool matches(cg_str list, cg_str etag, bool strongly)
{
    cg_str tag, wanted;
    bool weak;
    list = blank_trim(list);
    if (str_is(list, "*"))
        return true;
    if (!take_tag(&etag, &wanted, &weak) || (strongly && weak))
        return false;
    for (skip_separators(&list); take_tag(&list, &tag, &weak); skip_separators(&list))
        if (!(strongly && weak) && str_equal(tag, wanted))
            return true;
    return false;
}

bool etag_matches(cg_str list, cg_str etag)
{
    return matches(list, etag, false);
}

bool etag_matches_strongly(cg_str list, cg_str etag)
{
    return matches(list, etag, true);
}
