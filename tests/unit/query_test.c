#include "parse/query.h"

#include "base/alloc.h"
#include "tests/unit/suite.h"

#include <errno.h>

static struct arena arena;
static cg_fields pairs;

static void parse_bytes(const char *text, size_t len)
{
    char *copy = xalloc(len + !len);
    memcpy(copy, text, len);
    arena_finish(&arena);
    ck_assert_int_eq(query_parse(cg_bytes(copy, len), 100, &arena, &pairs), 0);
    free(copy);
    for (size_t i = 0; i < pairs.count; i++) {
        ck_assert_int_eq(pairs.items[i].name.ptr[pairs.items[i].name.len], '\0');
        ck_assert_int_eq(pairs.items[i].value.ptr[pairs.items[i].value.len], '\0');
    }
}

static void parse(const char *text)
{
    parse_bytes(text, strlen(text));
}

/* The only value of that name, or NULL. */
static const char *value(const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < pairs.count; i++) {
        if (strcmp(pairs.items[i].name.ptr, name) == 0) {
            ck_assert_ptr_null(found);
            found = pairs.items[i].value.ptr;
        }
    }
    return found;
}

START_TEST(case_10_plus_is_a_blank)
{
    parse("x=a+b&y=a%2Bb&z=a%20b&a+b=1");
    ck_assert_str_eq(value("x"), "a b");
    ck_assert_str_eq(value("y"), "a+b");
    ck_assert_str_eq(value("z"), "a b");
    ck_assert_str_eq(value("a b"), "1");
}
END_TEST

START_TEST(case_11_split_first_decode_once)
{
    parse("a=b%3Dc&k%3D1=v&q=x%26y=2&d=%2541&e==&f=a=b");
    ck_assert_uint_eq(pairs.count, 6);
    ck_assert_str_eq(value("a"), "b=c");
    ck_assert_str_eq(value("k=1"), "v");
    ck_assert_str_eq(value("q"), "x&y=2");
    ck_assert_ptr_null(value("y"));
    ck_assert_str_eq(value("d"), "%41");
    ck_assert_str_eq(value("e"), "=");
    ck_assert_str_eq(value("f"), "a=b");
}
END_TEST

START_TEST(case_12_malformed_escapes)
{
    parse("a=100%&b=%zz&c=%4&d=%&e=%e9&f=%%41&g=%4%41");
    ck_assert_str_eq(value("a"), "100%");
    ck_assert_str_eq(value("b"), "%zz");
    ck_assert_str_eq(value("c"), "%4");
    ck_assert_str_eq(value("d"), "%");
    ck_assert_str_eq(value("e"), "\xe9");
    ck_assert_str_eq(value("f"), "%A");
    ck_assert_str_eq(value("g"), "%4A");
    parse("%");
    ck_assert_str_eq(value("%"), "");
}
END_TEST

START_TEST(case_13_empty_and_absent)
{
    parse("noturl=1&note=url=2");
    ck_assert_ptr_null(value("url"));
    parse("url=");
    ck_assert_str_eq(value("url"), "");
    parse("url");
    ck_assert_str_eq(value("url"), "");
    parse("=v");
    ck_assert_ptr_null(value("url"));
    ck_assert_str_eq(value(""), "v");
    parse("&&a=1&");
    ck_assert_uint_eq(pairs.count, 1);
    ck_assert_str_eq(value("a"), "1");
    parse("urlx=3&url=4");
    ck_assert_str_eq(value("url"), "4");
    parse("");
    ck_assert_uint_eq(pairs.count, 0);
    parse("&&&");
    ck_assert_uint_eq(pairs.count, 0);
    parse("=");
    ck_assert_uint_eq(pairs.count, 1);
    ck_assert_str_eq(value(""), "");
}
END_TEST

START_TEST(case_15_semicolon_is_data)
{
    parse("link=/ok&utm=1;link=/evil");
    ck_assert_uint_eq(pairs.count, 2);
    ck_assert_str_eq(value("link"), "/ok");
    ck_assert_str_eq(value("utm"), "1;link=/evil");
}
END_TEST

START_TEST(order_and_nuls)
{
    parse("a=1&b=2&a=3&c=x%00y&%00=");
    ck_assert_uint_eq(pairs.count, 5);
    ck_assert_text(pairs.items[0].value, "1");
    ck_assert_text(pairs.items[2].value, "3");
    ck_assert_text(pairs.items[3].value, "x\0y");
    ck_assert_text(pairs.items[4].name, "\0");
    parse_bytes("a\0=b", 4);
    ck_assert_text(pairs.items[0].name, "a\0");
}
END_TEST

START_TEST(case_7_number_of_pairs)
{
    size_t len = 0, count = 20000;
    char *text = xalloc(10 * count);
    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(text + len, "&&k%zu=1", i % 100);
    arena_finish(&arena);
    ck_assert_int_eq(query_parse(cg_bytes(text, len), count, &arena, &pairs), 0);
    ck_assert_uint_eq(pairs.count, count);
    arena_finish(&arena);
    ck_assert_int_eq(query_parse(cg_bytes(text, len), count - 1, &arena, &pairs), -E2BIG);
    ck_assert_uint_eq(pairs.count, count);
    ck_assert_uint_eq(arena_size(&arena), 0);
    free(text);
}
END_TEST

SUITE_MAIN("query", case_10_plus_is_a_blank, case_11_split_first_decode_once, case_12_malformed_escapes,
           case_13_empty_and_absent, case_15_semicolon_is_data, order_and_nuls, case_7_number_of_pairs)
