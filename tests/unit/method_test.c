#include "parse/method.h"

#include "suite.h"

START_TEST(names_of_methods)
{
    for (int method = 0; method < METHOD_COUNT; method++)
        ck_assert_int_eq(method_of(cg_string(method_name(method))), method);
    ck_assert_int_eq(method_of(cg_string("get")), METHOD_COUNT);
    ck_assert_int_eq(method_of(cg_string("GE")), METHOD_COUNT);
    ck_assert_int_eq(method_of(cg_string("GETX")), METHOD_COUNT);
    ck_assert_int_eq(method_of(cg_string("PROPFIND")), METHOD_COUNT);
    ck_assert_int_eq(method_of(cg_string("")), METHOD_COUNT);
}
END_TEST

SUITE_MAIN("method", names_of_methods)
