#include "shm/heap.h"
#include "shm/layout.h"
#include "shm/segment.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 300
#define ROUNDS 20000

static struct shm *shm;

static void setup(void)
{
    ck_assert_int_eq(shm_create(NULL, SHM_SIZE_MIN, &shm), 0);
}

static void teardown(void)
{
    shm_close(shm);
}

static uint64_t used(void)
{
    uint64_t size, bytes;
    shm_heap_stats(shm, &size, &bytes);
    return bytes;
}

/* The largest block that can be had, found by trying; all of it when nothing is left behind in pieces. */
static size_t largest(void)
{
    uint64_t size, bytes, offset;
    shm_heap_stats(shm, &size, &bytes);
    for (size_t n = size; n > 0; n -= n / 64 + 1) {
        if (shm_heap_alloc(shm, n, true, &offset) == 0) {
            shm_heap_free(shm, offset);
            return n;
        }
    }
    return 0;
}

START_TEST(blocks_do_not_overlap_and_join_again)
{
    uint64_t offsets[BLOCKS] = {0};
    size_t sizes[BLOCKS], before = largest();
    unsigned seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned i = (unsigned)rand_r(&seed) % BLOCKS;
        if (offsets[i]) {
            const unsigned char *bytes = shm_at(shm, offsets[i]);
            for (size_t n = 0; n < sizes[i]; n += sizes[i] / 8 + 1)
                ck_assert_uint_eq(bytes[n], i & 255);
            ck_assert_uint_eq(bytes[sizes[i] - 1], i & 255);
            shm_heap_free(shm, offsets[i]);
            offsets[i] = 0;
            continue;
        }
        sizes[i] = 1 + (size_t)rand_r(&seed) % (rand_r(&seed) % 8 ? 200 : 20000);
        if (shm_heap_alloc(shm, sizes[i], false, &offsets[i]) == 0) {
            ck_assert_uint_eq(offsets[i] % SHM_HEAP_ALIGN, 0);
            ck_assert_uint_ge(shm_heap_capacity(shm, offsets[i]), sizes[i]);
            memset(shm_at(shm, offsets[i]), (int)(i & 255), sizes[i]);
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (offsets[i])
            shm_heap_free(shm, offsets[i]);
    }
    ck_assert_uint_eq(used(), 0);
    ck_assert_uint_eq(largest(), before);
}
END_TEST

START_TEST(a_part_is_kept_for_those_who_replace)
{
    uint64_t offset, last = 0;
    while (shm_heap_alloc(shm, 100, false, &offset) == 0)
        last = offset;
    ck_assert_uint_ne(last, 0);
    ck_assert_int_eq(shm_heap_alloc(shm, 100, false, &offset), -ENOSPC);
    ck_assert_int_eq(shm_heap_alloc(shm, 100, true, &offset), 0);
    shm_heap_free(shm, offset);
    ck_assert_int_eq(shm_heap_alloc(shm, SIZE_MAX, true, &offset), -ENOSPC);
    ck_assert_int_eq(shm_heap_alloc(shm, SIZE_MAX - 15, true, &offset), -ENOSPC);
}
END_TEST

START_TEST(offsets_that_are_no_blocks_have_no_room)
{
    uint64_t offset;
    ck_assert_int_eq(shm_heap_alloc(shm, 100, false, &offset), 0);
    ck_assert_uint_ge(shm_heap_capacity(shm, offset), 100);
    ck_assert_uint_eq(shm_heap_capacity(shm, 0), 0);
    ck_assert_uint_eq(shm_heap_capacity(shm, offset + 1), 0);
    ck_assert_uint_eq(shm_heap_capacity(shm, shm->size), 0);
    ck_assert_uint_eq(shm_heap_capacity(shm, UINT64_MAX - 15), 0);
    shm_heap_free(shm, offset);
    ck_assert_uint_eq(shm_heap_capacity(shm, offset), 0);
}
END_TEST

static uint64_t is_linked;

static bool linked(struct shm *segment, uint64_t offset)
{
    if (offset != is_linked)
        return false;
    shm_heap_publish(segment, offset);
    return true;
}

START_TEST(a_dead_process_leaves_nothing_but_what_is_linked)
{
    uint64_t mine;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(shm_heap_alloc(shm, 100, false, &mine), 0);
    uint64_t before = used();
    pid_t pid = fork();
    if (pid == 0) {
        shm->pid = getpid();
        uint64_t offsets[20];
        for (int i = 0; i < 20; i++)
            shm_heap_alloc(shm, 500, false, &offsets[i]);
        shm_heap_publish(shm, offsets[3]);
        _exit(write(ends[1], &offsets[7], sizeof offsets[7]) < 0);
    }
    ck_assert_int_eq(read(ends[0], &is_linked, sizeof is_linked), sizeof is_linked);
    waitpid(pid, NULL, 0);
    ck_assert_uint_gt(used(), before + 20 * 500);
    ck_assert_int_eq(shm_heap_sweep(shm, pid, linked), 0);
    ck_assert_uint_gt(used(), before + 2 * 500);
    ck_assert_uint_lt(used(), before + 3 * 500 + 100);
    ck_assert_int_eq(shm_heap_sweep(shm, pid, linked), 0);
    ck_assert_uint_gt(shm_heap_capacity(shm, is_linked), 499);
    ck_assert_uint_gt(shm_heap_capacity(shm, mine), 99);
}
END_TEST

static void expect_held(void *data, uint64_t offset)
{
    ck_assert_uint_eq(offset, *(uint64_t *)data);
    ck_assert(shm_holds_lock());
    *(uint64_t *)data = 0;
}

START_TEST(who_holds_a_lock_can_tell)
{
    uint64_t offset;
    ck_assert_int_eq(shm_heap_alloc(shm, 100, false, &offset), 0);
    ck_assert(!shm_holds_lock());
    ck_assert_int_eq(shm_heap_walk(shm, expect_held, &offset), 0);
    ck_assert_uint_eq(offset, 0);
    ck_assert(!shm_holds_lock());
}
END_TEST

static void *churn(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data;
    for (int i = 0; i < 5000; i++) {
        uint64_t offset;
        size_t size = 1 + (size_t)rand_r(&seed) % 2000;
        if (shm_heap_alloc(shm, size, false, &offset) == 0) {
            memset(shm_at(shm, offset), (int)seed & 255, size);
            shm_heap_publish(shm, offset);
            shm_heap_withdraw(shm, offset);
            shm_heap_free(shm, offset);
        }
    }
    return NULL;
}

START_TEST(threads_share_it)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(used(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_heap");
    TCase *tcase = tcase_create("heap");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, blocks_do_not_overlap_and_join_again);
    tcase_add_test(tcase, a_part_is_kept_for_those_who_replace);
    tcase_add_test(tcase, offsets_that_are_no_blocks_have_no_room);
    tcase_add_test(tcase, a_dead_process_leaves_nothing_but_what_is_linked);
    tcase_add_test(tcase, who_holds_a_lock_can_tell);
    tcase_add_test(tcase, threads_share_it);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
