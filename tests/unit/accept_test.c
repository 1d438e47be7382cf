#include "parse/accept.h"

#include "base/alloc.h"
#include "tests/unit/suite.h"

#include <stdbool.h>

static struct accept_encoding encoding;

static void line(const char *value)
{
    size_t len = strlen(value);
    char *copy = xalloc(len + !len);
    memcpy(copy, value, len);
    accept_encoding_read(&encoding, cg_bytes(copy, len));
    free(copy);
}

static bool takes_gzip(const char *value)
{
    encoding = ACCEPT_ENCODING_NONE;
    line(value);
    return accept_prefers(&encoding, encoding.gzip);
}

START_TEST(case_38_gzip_or_not)
{
    static const char *const yes[] = {
        "gzip",
        "GZIP",
        "x-gzip",
        "gzip ; q=0.5;level=6",
        "gzip;q=1.000",
        "deflate, gzip, br, zstd",
        "gzip;Q=0.1",
        "gzip;q=0.001",
        "*;q=0, gzip",
        "gzip, identity",
        "identity;q=0, gzip;q=0.5",
        ",, gzip ,,",
        "gzip;level=9",
        "gzip;",
        "gzip\t;\tq=1",
        "br;q=1.0, gzip;q=0.8, *;q=0.1",
    };
    static const char *const no[] = {
        "gzip;q=0",
        "gzip;q=0, *",
        "*;q=0",
        "*",
        "gzipped",
        "identity;q=1, gzip;q=0.5",
        "gzip;q=0.000",
        "br",
        "",
        "gzip;q=",
        "gzip;q=-1",
        "gzip;q=1.5",
        "gzip;q=0.5000",
        "gzip;q=.5",
        "gzip;q=2",
        "gzip;q=nan",
        "not-gzip",
        "gzip;q=0 .5",
        "\"gzip\"",
        "gzip;q=0, gzip",
        "gzip=1",
        "gz ip",
        "identity",
        "g",
    };
    for (size_t i = 0; i < COUNT(yes); i++)
        ck_assert_msg(takes_gzip(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < COUNT(no); i++)
        ck_assert_msg(!takes_gzip(no[i]), "%s", no[i]);
}
END_TEST

START_TEST(case_38_two_lines)
{
    encoding = ACCEPT_ENCODING_NONE;
    line("br;q=0.3");
    line("gzip;q=0.7, identity;q=0.5");
    ck_assert_int_eq(encoding.brotli, 300);
    ck_assert_int_eq(encoding.gzip, 700);
    ck_assert_int_eq(encoding.identity, 500);
    ck_assert(accept_prefers(&encoding, encoding.gzip));
    ck_assert(!accept_prefers(&encoding, encoding.brotli));
}
END_TEST

START_TEST(weights_of_types)
{
    const cg_str browser = cg_string("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    ck_assert_int_eq(accept_weight(browser, "text/html"), 1000);
    ck_assert_int_eq(accept_weight(browser, "application/xml"), 900);
    ck_assert_int_eq(accept_weight(browser, "application/json"), ACCEPT_UNNAMED);
    ck_assert_int_eq(accept_weight(cg_string("TEXT/HTML;level=1;q=0"), "text/html"), 0);
    ck_assert_int_eq(accept_weight(cg_string("text/htmlx"), "text/html"), ACCEPT_UNNAMED);
    ck_assert_int_eq(accept_weight(cg_string(""), "text/html"), ACCEPT_UNNAMED);
}
END_TEST

SUITE_MAIN("accept", case_38_gzip_or_not, case_38_two_lines, weights_of_types)
