#include "base/map.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

#define MANY 5000

static char keys[MANY][32];

START_TEST(all_that_was_added_is_found_and_nothing_else)
{
    struct map map = {0};
    ck_assert_ptr_null(map_get(&map, "x", 1));
    for (size_t i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "/path/%zu/index.html", i * 7919);
        ck_assert_int_eq(map_add(&map, keys[i], strlen(keys[i]), keys[i]), 0);
    }
    for (size_t i = 0; i < MANY; i++)
        ck_assert_ptr_eq(map_get(&map, keys[i], strlen(keys[i])), keys[i]);
    ck_assert_ptr_null(map_get(&map, keys[5], strlen(keys[5]) - 1));
    ck_assert_ptr_null(map_get(&map, "", 0));
    ck_assert_uint_eq(map.count, MANY);
    map_finish(&map);
}
END_TEST

START_TEST(a_key_is_there_once)
{
    struct map map = {0};
    int one, two;
    ck_assert_int_eq(map_add(&map, "k", 1, &one), 0);
    ck_assert_int_eq(map_add(&map, "k", 1, &two), -EEXIST);
    ck_assert_ptr_eq(map_get(&map, "k", 1), &one);
    map_finish(&map);
}
END_TEST

START_TEST(keys_are_bytes)
{
    struct map map = {0};
    int one, two, empty;
    ck_assert_int_eq(map_add(&map, "a\0b", 3, &one), 0);
    ck_assert_int_eq(map_add(&map, "a\0c", 3, &two), 0);
    ck_assert_int_eq(map_add(&map, "", 0, &empty), 0);
    ck_assert_ptr_eq(map_get(&map, "a\0b", 3), &one);
    ck_assert_ptr_eq(map_get(&map, "a\0c", 3), &two);
    ck_assert_ptr_eq(map_get(&map, "", 0), &empty);
    ck_assert_ptr_null(map_get(&map, "a", 1));
    map_finish(&map);
}
END_TEST

SUITE_MAIN("map", all_that_was_added_is_found_and_nothing_else, a_key_is_there_once, keys_are_bytes)
