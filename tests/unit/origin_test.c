#include "parse/origin.h"

#include "tests/unit/suite.h"

START_TEST(case_65_one_form_for_each)
{
    static const char *const same[][2] = {
        {"https://a.test", "https://a.test"},       {"HTTPS://A.Test:443", "https://a.test"},
        {"http://a.test:80", "http://a.test"},      {"http://a.test:", "http://a.test"},
        {"http://a.test:443", "http://a.test:443"}, {"https://[::1]:443", "https://[::1]"},
    };
    char out[ORIGIN_MAX];
    for (size_t i = 0; i < COUNT(same); i++) {
        ck_assert(origin_normalise(cg_string(same[i][0]), out));
        ck_assert_str_eq(out, same[i][1]);
    }
}
END_TEST

START_TEST(what_is_none)
{
    static const char *const none[] = {"",
                                       "null",
                                       "a.test",
                                       "https://",
                                       "https://a.test/",
                                       "ftp://a.test",
                                       "https://a b",
                                       "https://a.test:99999",
                                       "https://u@a.test",
                                       "https:a.test"};
    char out[ORIGIN_MAX];
    for (size_t i = 0; i < COUNT(none); i++)
        ck_assert_msg(!origin_normalise(cg_string(none[i]), out), "%s", none[i]);
}
END_TEST

START_TEST(its_own_host)
{
    ck_assert(origin_is_of_host(cg_string("https://a.test"), cg_string("A.test")));
    ck_assert(origin_is_of_host(cg_string("https://a.test"), cg_string("a.test:443")));
    ck_assert(origin_is_of_host(cg_string("http://a.test:3000"), cg_string("a.test:3000")));
    ck_assert(!origin_is_of_host(cg_string("http://a.test"), cg_string("a.test:443")));
    ck_assert(!origin_is_of_host(cg_string("http://b.test"), cg_string("a.test")));
    ck_assert(!origin_is_of_host(cg_string("null"), cg_string("null")));
    ck_assert(!origin_is_of_host(cg_string("http://a.test"), cg_string("")));
}
END_TEST

SUITE_MAIN("origin", case_65_one_form_for_each, what_is_none, its_own_host)
