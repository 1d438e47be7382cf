#include "base/arena.h"
#include "suite.h"

#include <stdint.h>
#include <string.h>

static struct arena_pool pool;

START_TEST(blocks_are_aligned_and_apart)
{
    struct arena arena;
    char *before = NULL;
    size_t before_size = 0;
    arena_init(&arena, &pool);
    for (size_t size = 0; size < 3000; size += 7) {
        char *block = arena_alloc(&arena, size);
        ck_assert_uint_eq((uintptr_t)block % 16, 0);
        memset(block, (int)size, size);
        if (before_size > 0)
            ck_assert_int_eq(before[before_size - 1], (char)before_size);
        before = block;
        before_size = size;
    }
    arena_finish(&arena);
}
END_TEST

START_TEST(chunks_return_to_the_pool_and_are_used_again)
{
    struct arena arena;
    arena_init(&arena, &pool);
    void *first = arena_alloc(&arena, 100);
    arena_finish(&arena);
    ck_assert_uint_eq(pool.count, 1);
    ck_assert_ptr_eq(arena_alloc(&arena, 100), first);
    ck_assert_uint_eq(pool.count, 0);
    arena_finish(&arena);
    arena_pool_finish(&pool);
    ck_assert_uint_eq(pool.count, 0);
}
END_TEST

START_TEST(a_large_block_leaves_the_current_chunk_in_use)
{
    struct arena arena;
    arena_init(&arena, &pool);
    char *small = arena_alloc(&arena, 16);
    memset(arena_alloc(&arena, 1 << 20), 'x', 1 << 20);
    ck_assert_ptr_eq(arena_alloc(&arena, 16), small + 16);
    arena_finish(&arena);
    ck_assert_uint_eq(pool.count, 1);
}
END_TEST

START_TEST(the_newest_block_grows_in_place_others_move)
{
    struct arena arena;
    arena_init(&arena, NULL);
    char *block = arena_alloc(&arena, 10);
    memcpy(block, "123456789", 10);
    ck_assert_ptr_eq(arena_grow(&arena, block, 10, 500), block);
    arena_alloc(&arena, 1);
    char *moved = arena_grow(&arena, block, 500, 600);
    ck_assert_ptr_ne(moved, block);
    ck_assert_str_eq(moved, "123456789");
    ck_assert_str_eq(arena_grow(&arena, moved, 600, 100000), "123456789");
    arena_finish(&arena);
}
END_TEST

START_TEST(arrays_are_extended_by_doubling)
{
    struct arena arena;
    int *numbers = NULL;
    size_t capacity = 0;
    arena_init(&arena, &pool);
    for (size_t count = 0; count < 5000; count++) {
        size_t before = capacity;
        numbers = arena_extend(&arena, numbers, count, &capacity, sizeof *numbers);
        ck_assert_uint_gt(capacity, count);
        ck_assert(capacity == before || capacity == 2 * before || before == 0);
        numbers[count] = (int)count;
        (void)arena_alloc(&arena, 1);
    }
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(numbers[i], i);
    arena_finish(&arena);
}
END_TEST

START_TEST(all_but_the_first_chunk_can_be_given_back)
{
    struct arena arena;
    arena_init(&arena, NULL);
    char *first = arena_alloc(&arena, 10);
    memcpy(first, "123456789", 10);
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(&arena, 5000), i, 5000);
    memset(arena_alloc(&arena, 1 << 20), 'x', 1 << 20);
    ck_assert_uint_gt(arena_size(&arena), 100 * 5000);
    arena_keep_first(&arena);
    ck_assert_uint_eq(arena_size(&arena), ARENA_CHUNK_SIZE);
    ck_assert_str_eq(first, "123456789");
    memset(arena_alloc(&arena, 100), 'y', 100);
    ck_assert_str_eq(first, "123456789");
    arena_finish(&arena);
}
END_TEST

START_TEST(what_is_too_much_is_refused)
{
    struct arena arena;
    arena_init(&arena, &pool);
    ck_assert_ptr_null(arena_try(&arena, SIZE_MAX));
#ifndef __SANITIZE_ADDRESS__ /* which reports it */
    ck_assert_ptr_null(arena_try(&arena, SIZE_MAX / 2));
#endif
    ck_assert_ptr_nonnull(arena_try(&arena, 1));
    arena_finish(&arena);
}
END_TEST

START_TEST(texts_of_any_length_are_terminated)
{
    struct arena arena;
    arena_init(&arena, NULL);
    ck_assert_text(arena_copy(&arena, "a\0b", 3), "a\0b");
    ck_assert_text(arena_copy(&arena, NULL, 0), "");
    for (int width = 1; width < 2000; width += 37) {
        cg_str text = arena_printf(&arena, "%*d", width, 7);
        ck_assert_uint_eq(text.len, (size_t)width);
        ck_assert_str_eq(text.ptr + width - 1, "7");
    }
    arena_finish(&arena);
}
END_TEST

SUITE_MAIN("arena", blocks_are_aligned_and_apart, chunks_return_to_the_pool_and_are_used_again,
           a_large_block_leaves_the_current_chunk_in_use, the_newest_block_grows_in_place_others_move,
           arrays_are_extended_by_doubling, all_but_the_first_chunk_can_be_given_back,
           what_is_too_much_is_refused, texts_of_any_length_are_terminated)
