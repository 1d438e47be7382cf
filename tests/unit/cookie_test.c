#include "parse/cookie.h"

#include "base/alloc.h"
#include "tests/unit/suite.h"

static struct arena arena;
static cg_fields cookies;

static void parse(const char *text)
{
    size_t len = strlen(text);
    char *copy = xalloc(len + !len);
    memcpy(copy, text, len);
    arena_finish(&arena);
    cookie_parse(cg_bytes(copy, len), &arena, &cookies);
    free(copy);
}

static void is(size_t i, const char *name, const char *value)
{
    ck_assert_uint_lt(i, cookies.count);
    ck_assert_str_eq(cookies.items[i].name.ptr, name);
    ck_assert_uint_eq(cookies.items[i].name.len, strlen(name));
    ck_assert_str_eq(cookies.items[i].value.ptr, value);
    ck_assert_uint_eq(cookies.items[i].value.len, strlen(value));
}

START_TEST(case_17_several_fields)
{
    cg_field fields[] = {{cg_string("cookie"), cg_string("a=1")}, {cg_string("host"), cg_string("x")},
                         {cg_string("cookie"), cg_string("b=2")}, {cg_string("cookie"), cg_string("")},
                         {cg_string("accept"), cg_string("*")},   {cg_string("cookie"), cg_string("s=abc")}};
    size_t count = COUNT(fields);
    cookie_join(fields, &count, &arena);
    ck_assert_uint_eq(count, 3);
    ck_assert_text(fields[0].name, "cookie");
    ck_assert_text(fields[0].value, "a=1; b=2; s=abc");
    ck_assert_text(fields[1].name, "host");
    ck_assert_text(fields[2].name, "accept");
    const char *before = fields[0].value.ptr;
    cookie_join(fields, &count, &arena);
    ck_assert_uint_eq(count, 3);
    ck_assert_ptr_eq(fields[0].value.ptr, before);
    count = 0;
    cookie_join(NULL, &count, &arena);
    cg_field empty[] = {{cg_string("cookie"), cg_string("")}, {cg_string("cookie"), cg_string("")}};
    count = 2;
    cookie_join(empty, &count, &arena);
    ck_assert_uint_eq(count, 1);
    ck_assert_text(empty[0].value, "");
}
END_TEST

START_TEST(case_18_equals_signs_and_verbatim_values)
{
    parse("t=YWJjZA==; u=a=b=c; v=; p=%41+%2; q=\"x y\"; r=\"");
    ck_assert_uint_eq(cookies.count, 6);
    is(0, "t", "YWJjZA==");
    is(1, "u", "a=b=c");
    is(2, "v", "");
    is(3, "p", "%41+%2");
    is(4, "q", "\"x y\"");
    is(5, "r", "\"");
}
END_TEST

START_TEST(case_20_nameless_empty_and_oddly_spaced)
{
    parse("test; a=b;; =v;  c = d ;e=;");
    ck_assert_uint_eq(cookies.count, 3);
    is(0, "a", "b");
    is(1, "c", "d");
    is(2, "e", "");
    parse("");
    ck_assert_uint_eq(cookies.count, 0);
    parse("x=1\t");
    is(0, "x", "1");
    parse(";;=;==;");
    ck_assert_uint_eq(cookies.count, 0);
    parse("a=1;b=2,c=3");
    ck_assert_uint_eq(cookies.count, 2);
    is(1, "b", "2,c=3");
}
END_TEST

START_TEST(case_22_same_name_twice)
{
    parse("sid=path-specific; x=1; sid=root");
    ck_assert_uint_eq(cookies.count, 3);
    is(0, "sid", "path-specific");
    is(2, "sid", "root");
}
END_TEST

SUITE_MAIN("cookie", case_17_several_fields, case_18_equals_signs_and_verbatim_values,
           case_20_nameless_empty_and_oddly_spaced, case_22_same_name_twice)
