#include "parse/utf8.h"

#include "tests/unit/suite.h"

/* Every code point, encoded as RFC 3629, section 3 says. */
static size_t encode(uint32_t point, char out[4])
{
    const size_t more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t firsts[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(firsts[more] | point >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3f));
    return more + 1;
}

START_TEST(every_code_point)
{
    char text[4];
    uint32_t wrong = 0;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        size_t len = encode(point, text);
        wrong += utf8_valid(text, len) == surrogate;
        wrong += utf8_length(text, sizeof text) != (surrogate ? 0 : len) || utf8_length(text, len - 1) != 0;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert(!utf8_valid(text, encode(0x110000, text)));
}
END_TEST

/* How many sequences of so many bytes are whole characters: a count that RFC 3629's grammar gives. */
START_TEST(every_sequence_of_two_and_three_bytes)
{
    uint32_t two = 0, three = 0;
    for (uint32_t i = 0; i < 1u << 16; i++) {
        char text[2] = {(char)(i >> 8), (char)i};
        two += utf8_valid(text, 2);
    }
    for (uint32_t i = 0; i < 1u << 24; i++) {
        char text[3] = {(char)(i >> 16), (char)(i >> 8), (char)i};
        three += utf8_valid(text, 3);
    }
    ck_assert_uint_eq(two, 128 * 128 + 1920);
    ck_assert_uint_eq(three, 128 * 128 * 128 + 2 * 128 * 1920 + (0x10000 - 0x800 - 2048));
}
END_TEST

START_TEST(pieces_and_runs_of_ascii)
{
    static const char text[] = "plain ascii for a while, \xce\xba\xf0\x9f\x98\x80 and \xe2\x82\xac again";
    const size_t len = sizeof text - 1;
    for (size_t at = 0; at <= len; at++) {
        struct utf8 utf8 = {0};
        ck_assert(utf8_feed(&utf8, text, at));
        ck_assert(utf8_feed(&utf8, text + at, len - at));
        ck_assert(utf8_is_whole(&utf8));
    }
    struct utf8 utf8 = {0};
    ck_assert(utf8_feed(&utf8, "\xf0\x9f", 2));
    ck_assert(!utf8_is_whole(&utf8));
    ck_assert(!utf8_feed(&utf8, "a", 1));
    ck_assert(utf8_valid("", 0));
}
END_TEST

SUITE_MAIN("utf8", every_code_point, every_sequence_of_two_and_three_bytes, pieces_and_runs_of_ascii)
