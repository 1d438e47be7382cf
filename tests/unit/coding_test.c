#include "app/coding.h"

#include "app/mime.h"
#include "base/alloc.h"
#include "tests/unit/suite.h"

#include <stdint.h>
#include <string.h>

static char *make_text(size_t len)
{
    char *text = xalloc(len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = "the quick brown fox "[(i + i / 97) % 20];
    return text;
}

START_TEST(what_is_packed_is_held)
{
    static const size_t sizes[] = {1, 256, 16385, 70000, 200000, 1100000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *text = make_text(sizes[i]), *out = xalloc(sizes[i] + 100);
        for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
            for (int effort = EFFORT_FAST; effort <= EFFORT_BEST; effort++) {
                size_t len = coding_pack((enum coding)coding, (enum effort)effort, text, sizes[i], out,
                                         sizes[i] + 100);
                ck_assert_uint_gt(len, 0);
                ck_assert(coding_holds((enum coding)coding, out, len, text, sizes[i]));
                ck_assert(!coding_holds((enum coding)coding, out, len - 1, text, sizes[i]));
                ck_assert(!coding_holds((enum coding)coding, out, len, text, sizes[i] - 1));
                ck_assert(!coding_holds((enum coding)(3 - coding), out, len, text, sizes[i]));
                text[sizes[i] / 2] ^= 1;
                ck_assert(!coding_holds((enum coding)coding, out, len, text, sizes[i]));
                text[sizes[i] / 2] ^= 1;
            }
        }
        free(text);
        free(out);
    }
}
END_TEST

/* Whatever follows a good stream would reach clients as well. */
START_TEST(nothing_may_follow)
{
    char *text = make_text(1000), out[1100];
    for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
        size_t len = coding_pack((enum coding)coding, EFFORT_BEST, text, 1000, out, sizeof out - 1);
        out[len] = 0;
        ck_assert(coding_holds((enum coding)coding, out, len, text, 1000));
        ck_assert(!coding_holds((enum coding)coding, out, len + 1, text, 1000));
        ck_assert(!coding_holds((enum coding)coding, out, 0, text, 1000));
        ck_assert(!coding_holds((enum coding)coding, text, 1000, text, 1000));
    }
    free(text);
}
END_TEST

START_TEST(what_does_not_fit_is_not_packed)
{
    char noise[4000], out[4000];
    for (uint32_t i = 0, x = 1; i < sizeof noise; i++, x = x * 1664525 + 1013904223)
        noise[i] = (char)(x >> 24);
    for (int coding = CODING_IDENTITY; coding < CODING_COUNT; coding++) {
        ck_assert_uint_eq(coding_pack((enum coding)coding, EFFORT_BEST, noise, sizeof noise, out,
                                      coding_worth(sizeof noise)),
                          0);
        ck_assert_uint_eq(coding_pack((enum coding)coding, EFFORT_FAST, noise, sizeof noise, out, 0), 0);
    }
    ck_assert_uint_eq(coding_worth(255), 0);
    ck_assert_uint_eq(coding_worth(256), 208);
    ck_assert_uint_eq(coding_worth(16000), 14968);
}
END_TEST

START_TEST(types_worth_it)
{
    static const char *const yes[] = {"text/html; charset=utf-8",      "TEXT/CSS",      "application/json",
                                      "application/problem+json; x=y", "image/svg+xml", "application/wasm"};
    static const char *const no[] = {"image/png",
                                     "application/octet-stream",
                                     "text/event-stream",
                                     "application/jsonx",
                                     "application/zip",
                                     "text/event-stream; x=y",
                                     "video/mp4",
                                     "+json",
                                     ""};
    for (size_t i = 0; i < COUNT(yes); i++)
        ck_assert_msg(mime_compressible(yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < COUNT(no); i++)
        ck_assert_msg(!mime_compressible(no[i]), "%s", no[i]);
}
END_TEST

SUITE_MAIN("coding", what_is_packed_is_held, nothing_may_follow, what_does_not_fit_is_not_packed,
           types_worth_it)
