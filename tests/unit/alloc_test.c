#include "base/alloc.h"
#include "suite.h"

START_TEST(arrays_grow_by_doubling)
{
    size_t *numbers = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < 5000; count++) {
        size_t before = capacity;
        numbers = xgrow(numbers, count, &capacity, sizeof *numbers);
        ck_assert_uint_gt(capacity, count);
        ck_assert(capacity == before || capacity == 2 * before || before == 0);
        numbers[count] = count;
    }
    for (size_t i = 0; i < 5000; i++)
        ck_assert_uint_eq(numbers[i], i);
    free(numbers);
}
END_TEST

START_TEST(texts)
{
    char *text = xstrndup("abc", 2), *printed = xsprintf("%d-%s", 7, "x"), *none = xstrndup(NULL, 0);
    ck_assert_str_eq(text, "ab");
    ck_assert_str_eq(printed, "7-x");
    ck_assert_str_eq(none, "");
    free(text);
    free(printed);
    free(none);
}
END_TEST

SUITE_MAIN("alloc", arrays_grow_by_doubling, texts)
