#include "parse/chunked.h"

#include "base/alloc.h"
#include "tests/unit/suite.h"

static char body[65536];
static size_t body_len, consumed;

/* Feeds data in pieces of at most `piece` bytes, each in a block of its own so that a read behind it is seen.
 */
static int decode_limited(const char *data, size_t len, size_t piece, uint64_t limit)
{
    struct chunked chunked = {.limit = limit};
    body_len = consumed = 0;
    while (consumed < len) {
        size_t size = len - consumed < piece ? len - consumed : piece, used = SIZE_MAX;
        char *block = xalloc(size);
        cg_str payload = {0};
        memcpy(block, data + consumed, size);
        int r = chunked_feed(&chunked, block, size, &used, &payload);
        if (r >= 0) {
            ck_assert_uint_le(used, size);
            ck_assert(used > 0);
            ck_assert_uint_le(body_len + payload.len, sizeof body);
            memcpy(body + body_len, payload.ptr, payload.len);
            body_len += payload.len;
            consumed += used;
        } else {
            ck_assert_uint_eq(used, SIZE_MAX);
        }
        free(block);
        if (r != 0)
            return r;
    }
    return 0;
}

static int decode(const char *text)
{
    int r = decode_limited(text, strlen(text), SIZE_MAX, 0);
    for (size_t piece = 1; piece < 8; piece++)
        ck_assert_int_eq(decode_limited(text, strlen(text), piece, 0), r);
    return r;
}

START_TEST(every_split_gives_the_same)
{
    static const char text[] = "5\r\nhello\r\n1;ext=1\r\n \r\n00000a\r\nwonderful "
                               "\r\nA;x=\"y\"\r\n0123456789\r\n0;last\r\nX: y\r\nZ:\r\n\r\nGET";
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        ck_assert_int_eq(decode_limited(text, sizeof text - 1, piece, 0), 1);
        ck_assert_uint_eq(consumed, sizeof text - 1 - 3);
        ck_assert_slice(cg_bytes(body, body_len), "hello wonderful 0123456789");
    }
}
END_TEST

START_TEST(case_43_chunk_sizes)
{
    ck_assert_int_eq(decode("5;ext=1\r\nhello\r\n0\r\n\r\n"), 1);
    ck_assert_int_eq(decode("5 ;a\r\nhello\r\n0\t ; b = c ; d=\"\" ;e\r\n\r\n"), 1);
    ck_assert_int_eq(decode("5;a=\"b;\\\"c\\\\ \t\x80\";d\r\nhello\r\n0\r\n\r\n"), 1);
    ck_assert_int_eq(decode("0\r\n\r\n"), 1);
    ck_assert_uint_eq(body_len, 0);
    ck_assert_int_eq(decode("0000000000000005\r\nhello\r\n0\r\n\r\n"), 1);
    const char *bad[] = {"5zz\r\nhello",
                         "5 0\r\n",
                         "5\nhello",
                         "0x5\r\nhello",
                         "-1\r\n",
                         "+5\r\n",
                         "00000000000000005\r\nhello",
                         "\r\n",
                         ";x\r\n",
                         " 5\r\n",
                         "5 \r\nhello",
                         "5\t\r\nhello",
                         "5;\r\nhello",
                         "5; \r\nhello",
                         "5;;a\r\nhello",
                         "5;a;\r\nhello",
                         "5;=b\r\nhello",
                         "5;a=\r\nhello",
                         "5;a= \r\nhello",
                         "5;a=b=c\r\nhello",
                         "5;a b\r\nhello",
                         "5;a \r\nhello",
                         "5;a=b \r\nhello",
                         "5;a=\"b\"c\r\nhello",
                         "5;a=\"b\" \r\nhello",
                         "5;a=\"b\r\n\"\r\nhello",
                         "5;a=\"b\\\r\nhello",
                         "5;a=b\"c\"\r\nhello",
                         "5;(a)\r\nhello",
                         "5;a\x80\r\nhello",
                         "5\r\rhello",
                         "5\r\nhello\n",
                         "5\r\nhelloX",
                         "5\r\nhello0\r\n",
                         "5;\x01\r\n",
                         "5;a\nhello",
                         "0\r\n\n",
                         "0\n\r\n",
                         "0\r\nX\r\n\r\n",
                         "0\r\n: y\r\n\r\n",
                         "0\r\nX : y\r\n\r\n",
                         "0\r\nX: y\n\r\n",
                         "0\r\n y\r\n\r\n",
                         "0\r\nX: y\r\n z\r\n\r\n",
                         "0\r\nX: \x7f\r\n\r\n",
                         "0\r\n\r\r"};
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(decode(bad[i]) == -400, "%s", bad[i]);
    ck_assert_int_eq(decode("ffffffffffffffff\r\n"), -413);
    ck_assert_int_eq(decode("8000000000000000"), -413);
    ck_assert_int_eq(decode("7fffffffffffffff\r\nx"), 0);
    ck_assert_int_eq(decode("1\r\na\r\n7fffffffffffffff\r\n"), -413);
}
END_TEST

START_TEST(case_43_limits)
{
    char text[20000];
    int len = snprintf(text, sizeof text, "5;%0248d\r\nhello\r\n0\r\n\r\n", 0);
    ck_assert_int_eq(decode_limited(text, (size_t)len, 100, 0), 1);
    len = snprintf(text, sizeof text, "5;%0300d\r\nhello", 0);
    ck_assert_int_eq(decode_limited(text, (size_t)len, 100, 0), -400);
    len = snprintf(text, sizeof text, "0\r\nX: %08000d\r\n\r\n", 0);
    ck_assert_int_eq(decode_limited(text, (size_t)len, 100, 0), 1);
    len = snprintf(text, sizeof text, "0\r\nX: %09000d", 0);
    ck_assert_int_eq(decode_limited(text, (size_t)len, 100, 0), -413);
    size_t used = 0;
    for (int i = 0; i < 50; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "1;%0200d\r\na\r\n", 0);
    ck_assert_int_eq(decode_limited(text, used, 100, 0), -413);
    static const char ten[] = "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n";
    ck_assert_int_eq(decode_limited(ten, sizeof ten - 1, SIZE_MAX, 10), 1);
    ck_assert_int_eq(decode_limited(ten, sizeof ten - 1, SIZE_MAX, 9), -413);
    ck_assert_uint_eq(body_len, 5);
}
END_TEST

START_TEST(an_error_stays)
{
    struct chunked chunked = {0};
    size_t used;
    cg_str payload;
    ck_assert_int_eq(chunked_feed(&chunked, "z", 1, &used, &payload), -400);
    ck_assert_int_eq(chunked_feed(&chunked, "5\r\n", 3, &used, &payload), -400);
    chunked = (struct chunked){0};
    ck_assert_int_eq(chunked_feed(&chunked, "0\r\n\r\n", 5, &used, &payload), 1);
    ck_assert_int_eq(chunked_feed(&chunked, "more", 4, &used, &payload), 1);
    ck_assert_uint_eq(used, 0);
}
END_TEST

SUITE_MAIN("chunked", every_split_gives_the_same, case_43_chunk_sizes, case_43_limits, an_error_stays)
