#include "base/str.h"
#include "suite.h"

static const cg_field constant = {STR("name"), STR("a\0b")};

START_TEST(literals)
{
    ck_assert_slice(constant.name, "name");
    ck_assert_slice(constant.value, "a\0b");
    ck_assert_uint_eq(STR("").len, 0);
}
END_TEST

START_TEST(equal_when_all_bytes_are)
{
    ck_assert(str_equal(STR("a\0b"), constant.value));
    ck_assert(!str_equal(STR("a\0c"), constant.value));
    ck_assert(!str_equal(STR("a"), constant.value));
    ck_assert(!str_equal(STR("Name"), constant.name));
    ck_assert(str_equal(STR(""), (cg_str){NULL, 0}));
}
END_TEST

START_TEST(a_word_is_all_of_it)
{
    char text[] = {'v', 'a', 'r', 'y', 'x'}; /* no NUL behind */
    ck_assert(str_is(cg_bytes(text, 4), "vary"));
    ck_assert(!str_is(cg_bytes(text, 5), "vary"));
    ck_assert(!str_is(cg_bytes(text, 3), "vary"));
    ck_assert(!str_is(STR("a\0b"), "a"));
    ck_assert(str_is((cg_str){NULL, 0}, ""));
    ck_assert(!str_is((cg_str){NULL, 0}, "a"));
}
END_TEST

START_TEST(cut_at_the_first)
{
    cg_str before, behind, text = STR("a=b=c");
    ck_assert(str_cut(text, '=', &before, &behind));
    ck_assert_slice(before, "a");
    ck_assert_slice(behind, "b=c");
    ck_assert(!str_cut(before, '=', &before, &behind));
    ck_assert_slice(before, "a");
    ck_assert_uint_eq(behind.len, 0);
    ck_assert_ptr_eq(behind.ptr, text.ptr + 1);
    ck_assert(str_cut(STR("="), '=', &before, &behind));
    ck_assert_uint_eq(before.len + behind.len, 0);
    ck_assert(!str_cut((cg_str){NULL, 0}, '=', &before, &behind));
    ck_assert_uint_eq(before.len + behind.len, 0);
}
END_TEST

SUITE_MAIN("str", literals, equal_when_all_bytes_are, a_word_is_all_of_it, cut_at_the_first)
