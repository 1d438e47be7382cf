#include "parse/field.h"

#include "base/str.h"

#include "tests/unit/suite.h"

START_TEST(case_108_names_and_values)
{
    ck_assert(field_name_valid(cg_string("X-Request_Id.1!")));
    ck_assert(!field_name_valid(cg_string("")));
    ck_assert(!field_name_valid((cg_str){0}));
    ck_assert(field_value_valid(cg_string("")));
    ck_assert(field_value_valid(cg_string(" a\tb \xff ")));
    ck_assert(!field_value_valid((cg_str){0}));
    for (int byte = 0; byte < 256; byte++) {
        char text[3] = {'a', (char)byte, 'b'};
        bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        bool separator = byte <= ' ' || byte >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", byte) != NULL;
        ck_assert_msg(field_value_valid(cg_bytes(text, 3)) == !control, "value with byte %d", byte);
        ck_assert_msg(field_name_valid(cg_bytes(text, 3)) == !separator, "name with byte %d", byte);
    }
}
END_TEST

START_TEST(case_56_hosts)
{
    const char *good[] = {
        "",        "a",     "example.org", "EXAMPLE.org:8080", "x:",    "x:0",         "x:65535",
        "1.2.3.4", "[::1]", "[::1]:80",    "[2001:db8::1]:",   "a_b-c", "[::1.2.3.4]", "localhost.",
        "x:00080"};
    const char *bad[] = {"a b",      "x:99999", "x:65536",
                         "user@x",   "a,b",     "x:8a",
                         "x:-1",     ":80",     "x:80:80",
                         "[::1",     "::1",     "[]",
                         "[1]",      "[::1]x",  "[::1%0]",
                         "x:000080", "a/b",     "a%41",
                         "a\x80",    "*",       "[::g]",
                         "a;b",      "[:::1]",  "a#",
                         "a?",       "a\\b",    "[12345678901234567890123456789012345678901234567890]"};
    char name[257];
    for (size_t i = 0; i < COUNT(good); i++)
        ck_assert_msg(host_valid(cg_string(good[i])), "%s", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!host_valid(cg_string(bad[i])), "%s", bad[i]);
    ck_assert(!host_valid(cg_bytes("[::1\0]", 6)));
    memset(name, 'a', sizeof name);
    ck_assert(host_valid(cg_bytes(name, 255)));
    ck_assert(!host_valid(cg_bytes(name, 256)));
}
END_TEST

START_TEST(tokens)
{
    ck_assert(token_equal(cg_string("Keep-Alive"), "keep-alive"));
    ck_assert(!token_equal(cg_string("keep-aliv"), "keep-alive"));
    ck_assert(!token_equal(cg_string("keep-alivee"), "keep-alive"));
    ck_assert(!token_equal(cg_bytes("a\0", 2), "a"));
    ck_assert(token_equal(cg_string(""), ""));
    ck_assert(!token_equal(cg_string("\x0d"), "-")); /* only letters have a case */
}
END_TEST

START_TEST(lists)
{
    cg_str rest = cg_string(" a ,, b\tc\t,\t, d"), item;
    ck_assert(list_next(&rest, &item));
    ck_assert_slice(item, "a");
    ck_assert(list_next(&rest, &item));
    ck_assert_slice(item, "b\tc");
    ck_assert(list_next(&rest, &item));
    ck_assert_slice(item, "d");
    ck_assert(!list_next(&rest, &item));
    ck_assert_slice(item, "d");
    rest = cg_string(" , ,");
    ck_assert(!list_next(&rest, &item));
    ck_assert(list_has(cg_string("x, Upgrade ,y"), "upgrade"));
    ck_assert(!list_has(cg_string("x, upgrades"), "upgrade"));
    ck_assert(!list_has(cg_string(""), "upgrade"));
}
END_TEST

START_TEST(look_ups)
{
    const cg_field items[] = {{STR("a"), STR("1")}, {STR("ab"), STR("2")}, {STR("a"), STR("3")}};
    const cg_fields fields = {items, COUNT(items)}, none = {NULL, 0};
    ck_assert_ptr_eq(fields_first(&fields, "a"), &items[0]);
    ck_assert_ptr_eq(fields_last(&fields, "a"), &items[2]);
    ck_assert_ptr_eq(fields_first(&fields, "ab"), &items[1]);
    ck_assert_ptr_null(fields_first(&fields, "A"));
    ck_assert_ptr_null(fields_last(&fields, ""));
    ck_assert_ptr_null(fields_last(&none, "a"));
}
END_TEST

SUITE_MAIN("field", case_108_names_and_values, case_56_hosts, tokens, lists, look_ups)
