#include "parse/range.h"

#include "parse/bytes.h"
#include "parse/field.h"

#include <errno.h>
#include <stdbool.h>

/* Takes digits off the front; what is too large for 64 bits lies behind the end of anything. */
static bool take_position(cg_str *text, uint64_t *ret_position)
{
    uint64_t position = 0;
    size_t len = 0;
    for (; len < text->len && byte_is_digit(text->ptr[len]); len++) {
        uint64_t digit = (uint64_t)(text->ptr[len] - '0');
        if (__builtin_mul_overflow(position, 10, &position) ||
            __builtin_add_overflow(position, digit, &position))
            position = UINT64_MAX / 10 + 1; /* stays too large, whatever follows */
    }
    if (len == 0)
        return false;
    *text = cg_bytes(text->ptr + len, text->len - len);
    *ret_position = position > UINT64_MAX / 10 ? UINT64_MAX : position;
    return true;
}

static bool take_dash(cg_str *text)
{
    if (text->len == 0 || text->ptr[0] != '-')
        return false;
    *text = cg_bytes(text->ptr + 1, text->len - 1);
    return true;
}

/* The last bytes. */
static int parse_suffix(cg_str text, uint64_t size, struct range *ret_range)
{
    uint64_t count;
    if (!take_position(&text, &count) || text.len > 0)
        return -EINVAL;
    if (count == 0)
        return 0;
    if (size == 0)
        return -EINVAL;
    *ret_range = (struct range){count < size ? size - count : 0, size - 1};
    return 1;
}

/* 1; 0 when it is valid, but outside of the representation; -EINVAL. */
static int parse_one(cg_str text, uint64_t size, struct range *ret_range)
{
    uint64_t first, last = UINT64_MAX;
    if (take_dash(&text))
        return parse_suffix(text, size, ret_range);
    if (!take_position(&text, &first) || !take_dash(&text))
        return -EINVAL;
    if (text.len > 0 && (!take_position(&text, &last) || text.len > 0 || last < first))
        return -EINVAL;
    if (first >= size)
        return 0;
    *ret_range = (struct range){first, last < size ? last : size - 1};
    return 1;
}

static bool overlaps(const struct range *ranges, int count, const struct range *range)
{
    for (int i = 0; i < count; i++)
        if (range->first <= ranges[i].last && ranges[i].first <= range->last)
            return true;
    return false;
}

int range_parse(cg_str value, uint64_t size, struct range ret_ranges[RANGE_MAX])
{
    struct range ranges[RANGE_MAX], range;
    int count = 0, asked = 0;
    cg_str item;
    value = blank_trim(value);
    if (value.len < 6 || !token_equal(cg_bytes(value.ptr, 5), "bytes") || value.ptr[5] != '=')
        return -EINVAL;
    cg_str rest = cg_bytes(value.ptr + 6, value.len - 6);
    while (list_next(&rest, &item)) {
        int found = parse_one(item, size, &range);
        if (found < 0)
            return found;
        if (++asked > RANGE_MAX)
            return -E2BIG;
        if (found == 0)
            continue;
        if (overlaps(ranges, count, &range))
            return -EINVAL;
        ranges[count++] = range;
    }
    if (asked == 0)
        return -EINVAL;
    for (int i = 0; i < count; i++)
        ret_ranges[i] = ranges[i];
    return count;
}
