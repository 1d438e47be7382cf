#include "parse/etag.h"

#include "base/alloc.h"
#include "tests/unit/suite.h"

static bool matches(const char *list, const char *etag)
{
    size_t len = strlen(list);
    char *copy = xalloc(len + !len);
    memcpy(copy, list, len);
    bool result = etag_matches(cg_bytes(copy, len), cg_string(etag));
    free(copy);
    return result;
}

START_TEST(case_36_lists_and_weak_tags)
{
    ck_assert(matches("\"a\"", "\"a\""));
    ck_assert(matches("W/\"a\"", "\"a\""));
    ck_assert(matches("\"a\"", "W/\"a\""));
    ck_assert(matches("\"zzz\", W/\"a\", \"y,y\"", "\"a\""));
    ck_assert(matches("\"zzz\", W/\"a\", \"y,y\"", "\"y,y\""));
    ck_assert(matches(" ,\t\"a\",,\"b\" ", "\"b\""));
    ck_assert(matches("*", "\"a\""));
    ck_assert(matches(" * ", "\"a\""));
    ck_assert(matches("\"\"", "\"\""));
    ck_assert(matches("\"x, \\\", \"a\"", "\"a\"")); /* a backslash escapes nothing in a tag */
}
END_TEST

START_TEST(case_36_no_match)
{
    const char *lists[] = {"",         "a",   "\"ab\"",    "\"\"",     "\"A\"",     "\"a",       "a\"",
                           "w/\"a\"",  "W/a", "\"x,\"a\"", "W /\"a\"", "*, \"b\"",  "\"*\"",     "\"b\", *",
                           "x, \"a\"", "W/",  "W",         "\"",       "\"y\",\"x", "\"aa\"\"aa"};
    for (size_t i = 0; i < COUNT(lists); i++)
        ck_assert_msg(!matches(lists[i], "\"a\""), "%s", lists[i]);
    ck_assert(!matches("\"a\"", ""));
    ck_assert(!matches("a", "a"));
}
END_TEST

START_TEST(strong_comparison)
{
    ck_assert(etag_matches_strongly(cg_string("\"a\""), cg_string("\"a\"")));
    ck_assert(etag_matches_strongly(cg_string("W/\"a\", \"a\""), cg_string("\"a\"")));
    ck_assert(etag_matches_strongly(cg_string("*"), cg_string("W/\"a\"")));
    ck_assert(!etag_matches_strongly(cg_string("W/\"a\""), cg_string("\"a\"")));
    ck_assert(!etag_matches_strongly(cg_string("\"a\""), cg_string("W/\"a\"")));
    ck_assert(!etag_matches_strongly(cg_string("W/\"a\""), cg_string("W/\"a\"")));
}
END_TEST

SUITE_MAIN("etag", case_36_lists_and_weak_tags, case_36_no_match, strong_comparison)
