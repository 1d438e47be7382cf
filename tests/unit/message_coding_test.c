#include "app/message_coding.h"

#include "tests/unit/suite.h"

#include <errno.h>
#include <string.h>

static struct message_coding *coding;

static void setup(void)
{
    coding = message_coding_create(false, false);
}

static void teardown(void)
{
    message_coding_destroy(coding);
}

START_TEST(what_is_packed_is_unpacked)
{
    struct buffer text = {0}, out = {0};
    char packed[8192];
    for (int i = 0; i < 1000; i++)
        buffer_printf(&text, "line %d\n", i);
    for (int bits = 9; bits <= 15; bits++)
        for (int round = 0; round < 3; round++) {
            size_t len = message_pack(coding, bits, text.data, text.len, packed, sizeof packed);
            ck_assert_uint_gt(len, 0);
            ck_assert_uint_lt(len, text.len);
            out.len = 0;
            ck_assert_int_eq(message_unpack(coding, packed, len, text.len, &out), 0);
            ck_assert_uint_eq(out.len, text.len);
            ck_assert_mem_eq(out.data, text.data, text.len);
            out.len = 0;
            ck_assert_int_eq(message_unpack(coding, packed, len, text.len - 1, &out), -EMSGSIZE);
        }
    buffer_finish(&text);
    buffer_finish(&out);
}
END_TEST

START_TEST(what_does_not_become_smaller_is_left)
{
    char noise[1000], packed[1000];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)((state = state * 1664525 + 1013904223) >> 24);
    ck_assert_uint_eq(message_pack(coding, 15, noise, sizeof noise, packed, sizeof packed), 0);
}
END_TEST

START_TEST(broken_data_is_told_and_forgotten)
{
    struct buffer out = {0};
    char packed[200], text[150];
    memset(text, 'a', sizeof text);
    size_t len = message_pack(coding, 15, text, sizeof text, packed, sizeof packed);
    ck_assert_int_eq(message_unpack(coding, "\xff\xff", 2, 100, &out), -EBADMSG);
    out.len = 0;
    ck_assert_int_eq(message_unpack(coding, packed, len, sizeof text, &out), 0);
    ck_assert_uint_eq(out.len, sizeof text);
    out.len = 0;
    ck_assert_int_eq(message_unpack(coding, "", 0, 100, &out), 0);
    ck_assert_uint_eq(out.len, 0);
    buffer_finish(&out);
}
END_TEST

START_TEST(windows_that_live_on_make_the_next_one_smaller)
{
    struct message_coding *from = message_coding_create(true, true), *to = message_coding_create(true, true);
    struct buffer out = {0};
    char text[200], packed[512];
    size_t first = 0, len = 0;
    for (int i = 0; i < 50; i++) {
        int size = snprintf(text, sizeof text,
                            "{\"what\":\"said\",\"name\":\"ann\",\"number\":%d,\"text\":\"%0100d\"}", i, i);
        len = message_pack(from, 12, text, (size_t)size, packed, message_pack_bound((size_t)size));
        ck_assert_uint_gt(len, 0);
        first = i == 0 ? len : first;
        out.len = 0;
        ck_assert_int_eq(message_unpack(to, packed, len, sizeof text, &out), 0);
        ck_assert_uint_eq(out.len, (size_t)size);
        ck_assert_mem_eq(out.data, text, out.len);
    }
    ck_assert_uint_lt(2 * len, first);
    message_coding_destroy(from);
    message_coding_destroy(to);
    buffer_finish(&out);
}
END_TEST

START_TEST(there_is_always_room_within_the_bound)
{
    struct message_coding *kept = message_coding_create(true, true);
    uint32_t state = 7;
    for (size_t size = 128; size < 300000; size = size * 3 / 2 + 1) {
        char *noise = malloc(size), *packed = malloc(message_pack_bound(size));
        for (size_t i = 0; i < size; i++)
            noise[i] = (char)((state = state * 1664525 + 1013904223) >> 24);
        ck_assert_uint_gt(message_pack(kept, 9, noise, size, packed, message_pack_bound(size)), 0);
        free(noise);
        free(packed);
    }
    message_coding_destroy(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("message_coding");
    TCase *tests = tcase_create("message_coding");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_is_packed_is_unpacked);
    tcase_add_test(tests, what_does_not_become_smaller_is_left);
    tcase_add_test(tests, broken_data_is_told_and_forgotten);
    tcase_add_test(tests, windows_that_live_on_make_the_next_one_smaller);
    tcase_add_test(tests, there_is_always_room_within_the_bound);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
