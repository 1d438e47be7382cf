#include "parse/range.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "tests/unit/suite.h"

#include <errno.h>

/* "0-3,8-9" for what can be served, "416", "ignored", "too many". */
static const char *parse(const char *value, uint64_t size)
{
    static char text[512];
    struct range ranges[RANGE_MAX];
    size_t len = strlen(value), used = 0;
    char *copy = xalloc(len + !len);
    memcpy(copy, value, len);
    int count = range_parse(cg_bytes(copy, len), size, ranges);
    free(copy);
    if (count <= 0)
        return count == 0 ? "416" : count == -E2BIG ? "too many" : "ignored";
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu-%llu", i ? "," : "",
                                 (unsigned long long)ranges[i].first, (unsigned long long)ranges[i].last);
    return text;
}

START_TEST(case_32_one_range)
{
    static const struct {
        const char *value, *expected;
    } rows[] = {
        {"bytes=0-0", "0-0"},
        {"bytes=-3", "7-9"},
        {"bytes=-20", "0-9"},
        {"bytes=5-", "5-9"},
        {"bytes=5-50", "5-9"},
        {"bytes=9-9", "9-9"},
        {"bytes=10-", "416"},
        {"bytes=10-20", "416"},
        {"bytes=-0", "416"},
        {"bytes=3-1", "ignored"},
        {"abc", "ignored"},
        {"items=0-1", "ignored"},
        {"bytes", "ignored"},
        {"bytes=", "ignored"},
        {"bytes=,", "ignored"},
        {"bytes=-", "ignored"},
        {"bytes=--1", "ignored"},
        {"bytes=+1-2", "ignored"},
        {"bytes=1- 2", "ignored"},
        {"bytes=1-2x", "ignored"},
        {"bytes=0x1-2", "ignored"},
        {"bytes =1-2", "ignored"},
        {"bytes:1-2", "ignored"},
        {"BYTES=1-2", "1-2"},
        {" bytes= 1-2 ", "1-2"},
        {"bytes=0-18446744073709551616", "0-9"},
        {"bytes=0-18446744073709551615", "0-9"},
        {"bytes=18446744073709551616-", "416"},
        {"bytes=18446744073709551617-18446744073709551618", "416"},
        {"bytes=-18446744073709551616", "0-9"},
        {"bytes=0-99999999999999999999999999999999999999999999", "0-9"},
        {"bytes=99999999999999999999999999999999999999-1", "ignored"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        ck_assert_msg(strcmp(parse(rows[i].value, 10), rows[i].expected) == 0, "%s: %s", rows[i].value,
                      parse(rows[i].value, 10));
}
END_TEST

START_TEST(case_32_beyond_32_bits)
{
    const uint64_t size = UINT64_C(10) << 30;
    ck_assert_str_eq(parse("bytes=4294967296-4294967297", size), "4294967296-4294967297");
    ck_assert_str_eq(parse("bytes=-1", size), "10737418239-10737418239");
    ck_assert_str_eq(parse("bytes=10737418240-", size), "416");
}
END_TEST

START_TEST(case_32_nothing_to_have)
{
    ck_assert_str_eq(parse("bytes=-5", 0), "ignored");
    ck_assert_str_eq(parse("bytes=0-", 0), "416");
    ck_assert_str_eq(parse("bytes=0-0", 0), "416");
    ck_assert_str_eq(parse("bytes=-0", 0), "416");
}
END_TEST

START_TEST(case_34_several_ranges)
{
    ck_assert_str_eq(parse("bytes=0-3,8-9", 10), "0-3,8-9");
    ck_assert_str_eq(parse("bytes=8-9 , 0-3", 10), "8-9,0-3");
    ck_assert_str_eq(parse("bytes=0-1,,3-4", 10), "0-1,3-4");
    ck_assert_str_eq(parse("bytes=0-1,20-30", 10), "0-1");
    ck_assert_str_eq(parse("bytes=20-30,-0", 10), "416");
    ck_assert_str_eq(parse("bytes=0-1,x", 10), "ignored");
    ck_assert_str_eq(parse("bytes=0-4,4-5", 10), "ignored");
    ck_assert_str_eq(parse("bytes=0-,0-,0-", 10), "ignored");
    ck_assert_str_eq(parse("bytes=5-6,0-9", 10), "ignored");
}
END_TEST

START_TEST(case_34_too_many)
{
    struct buffer value = {0};
    buffer_text(&value, "bytes=");
    for (int i = 0; i < RANGE_MAX; i++)
        buffer_printf(&value, "%d-%d,", 2 * i, 2 * i);
    ck_assert_str_ne(parse(value.data, 100), "too many");
    buffer_text(&value, "99-99");
    ck_assert_str_eq(parse(value.data, 100), "too many");
    ck_assert_str_eq(parse(value.data, 1), "too many"); /* those outside count as well */
    buffer_finish(&value);
}
END_TEST

SUITE_MAIN("range", case_32_one_range, case_32_beyond_32_bits, case_32_nothing_to_have,
           case_34_several_ranges, case_34_too_many)
