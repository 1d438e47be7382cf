#include "parse/date.h"

#include "tests/unit/suite.h"

#include <time.h>

/* The C library in its C locale is the reference. */
static void same_as_library(int64_t seconds)
{
    char ours[DATE_SIZE], theirs[64];
    struct tm tm;
    time_t when = (time_t)seconds;
    int64_t back = 1;
    date_format(seconds, ours);
    ck_assert_ptr_nonnull(gmtime_r(&when, &tm));
    strftime(theirs, sizeof theirs, "%a, %d %b ", &tm);
    size_t len = strlen(theirs);
    snprintf(theirs + len, sizeof theirs - len, "%04d", tm.tm_year + 1900);
    strftime(theirs + len + 4, sizeof theirs - len - 4, " %H:%M:%S GMT", &tm);
    ck_assert_str_eq(ours, theirs);
    ck_assert_int_eq(date_parse(cg_string(ours), &back), 0);
    ck_assert_int_eq(back, seconds);
}

START_TEST(formats_as_the_c_library)
{
    for (int64_t day = -719162; day < 2932896; day += 17)
        same_as_library(day * 86400 + (day * 7919 % 86400 + 86400) % 86400);
    for (int64_t day = -800; day < 12000; day++)
        same_as_library(day * 86400 + 86399);
    same_as_library(0);
    same_as_library(-1);
    same_as_library(784111777);
    same_as_library(951782400);
}
END_TEST

START_TEST(years_beyond_four_digits)
{
    char text[DATE_SIZE];
    date_format(INT64_MIN, text);
    ck_assert_str_eq(text, "Mon, 01 Jan 0001 00:00:00 GMT");
    date_format(INT64_MAX, text);
    ck_assert_str_eq(text, "Fri, 31 Dec 9999 23:59:59 GMT");
}
END_TEST

static void reads(const char *text, int64_t expected)
{
    int64_t seconds = -1;
    ck_assert_msg(date_parse(cg_string(text), &seconds) == 0, "%s", text);
    ck_assert_int_eq(seconds, expected);
}

START_TEST(three_forms)
{
    reads("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
    reads("Sunday, 06-Nov-94 08:49:37 GMT", 784111777);
    reads("Sun Nov  6 08:49:37 1994", 784111777);
    reads("Wed Nov 16 08:49:37 1994", 784111777 + 10 * 86400);
    reads("Thursday, 01-Jan-70 00:00:00 GMT", 0);
    reads("Tuesday, 31-Dec-69 23:59:59 GMT", 3155759999);
    reads("Tue, 29 Feb 2000 00:00:00 GMT", 951782400);
    reads("Sat, 31 Dec 2016 23:59:60 GMT", 1483228800);
}
END_TEST

START_TEST(case_36_garbage)
{
    const char *bad[] = {"",
                         "0",
                         "yesterday",
                         "Sun, 06 Nov 1994 08:49:37",
                         "Sun, 06 Nov 1994 08:49:37 gmt",
                         "Sun, 06 Nov 1994 08:49:37 GMT ",
                         " Sun, 06 Nov 1994 08:49:37 GMT",
                         "Sun, 06 Nov 1994 08:49:37 +0000",
                         "Sun, 6 Nov 1994 08:49:37 GMT",
                         "Sun, 06 nov 1994 08:49:37 GMT",
                         "Sun, 00 Nov 1994 08:49:37 GMT",
                         "Sun, 31 Nov 1994 08:49:37 GMT",
                         "Wed, 29 Feb 1900 00:00:00 GMT",
                         "Sun, 29 Feb 2001 00:00:00 GMT",
                         "Sun, 06 Nov 1994 24:00:00 GMT",
                         "Sun, 06 Nov 1994 08:60:37 GMT",
                         "Sun, 06 Nov 1994 08:49:61 GMT",
                         "Sun, 06 Nov 0000 08:49:37 GMT",
                         "Sunday, 06 Nov 1994 08:49:37 GMT",
                         "Sun, 06-Nov-94 08:49:37 GMT",
                         "Sunday, 06-Nov-1994 08:49:37 GMT",
                         "Sun Nov 6 08:49:37 1994",
                         "Sun Nov  6 08:49:37 1994 GMT",
                         "Son, 06 Nov 1994 08:49:37 GMT",
                         "Sun, 06 Nov 19x4 08:49:37 GMT"};
    int64_t seconds = 42;
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(date_parse(cg_string(bad[i]), &seconds) < 0, "%s", bad[i]);
    static const char whole[] = "Sunday, 06-Nov-94 08:49:37 GMT";
    for (size_t len = 0; len < sizeof whole - 1; len++)
        ck_assert_int_lt(date_parse(cg_bytes(whole, len), &seconds), 0);
    ck_assert_int_eq(seconds, 42);
}
END_TEST

SUITE_MAIN("date", formats_as_the_c_library, years_beyond_four_digits, three_forms, case_36_garbage)
