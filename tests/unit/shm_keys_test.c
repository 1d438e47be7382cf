#include "shm/keys.h"
#include "shm/segment.h"
#include "suite.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct shm *shm;

static void setup(void)
{
    ck_assert_int_eq(shm_create(NULL, SHM_SIZE_MIN, &shm), 0);
}

static void teardown(void)
{
    shm_close(shm);
}

static int set(const char *key, const char *value, int64_t ttl_ms)
{
    return shm_key_set(shm, "notes", key, value, strlen(value), ttl_ms);
}

static void *give(void *data, size_t size)
{
    (void)data;
    return malloc(size);
}

static void *give_nothing(void *data, size_t size)
{
    (void)data;
    (void)size;
    return NULL;
}

static void expect(const char *key, const char *expected)
{
    char *value;
    size_t len;
    ck_assert_int_eq(shm_key_get(shm, "notes", key, give, NULL, &value, &len), 0);
    ck_assert_uint_eq(len, strlen(expected));
    ck_assert_str_eq(value, expected);
    free(value);
}

static void expect_none(const char *key)
{
    ck_assert_int_eq(shm_key_read(shm, "notes", key, NULL, 0, NULL), -ENOENT);
}

static struct shm_stats stats(void)
{
    struct shm_stats now;
    shm_stats(shm, &now);
    return now;
}

START_TEST(what_is_set_is_read)
{
    char buffer[4] = "----";
    size_t len;
    expect_none("a");
    ck_assert_int_eq(set("a", "first", 0), 0);
    ck_assert_int_eq(set("b", "", 0), 0);
    expect("a", "first");
    expect("b", "");
    ck_assert_int_eq(set("a", "second", 0), 0);
    expect("a", "second");
    ck_assert_int_eq(shm_key_read(shm, "notes", "a", buffer, 3, &len), 0);
    ck_assert_uint_eq(len, 6);
    ck_assert_mem_eq(buffer, "sec-", 4);
    ck_assert_int_eq(shm_key_read(shm, "others", "a", buffer, 3, &len), -ENOENT);
    ck_assert_int_eq(shm_key_delete(shm, "notes", "a"), 0);
    ck_assert_int_eq(shm_key_delete(shm, "notes", "a"), -ENOENT);
    expect_none("a");
    ck_assert_uint_eq(stats().keys, 1);
}
END_TEST

START_TEST(names_cannot_be_taken_for_others)
{
    ck_assert_int_eq(shm_key_set(shm, "ab", "c", "1", 1, 0), 0);
    ck_assert_int_eq(shm_key_read(shm, "a", "bc", NULL, 0, NULL), -ENOENT);
    ck_assert_int_eq(shm_key_read(shm, "abc", "c", NULL, 0, NULL), -ENOENT);
}
END_TEST

START_TEST(senseless_arguments_are_refused)
{
    char name[SHM_KEY_MAX + 2];
    memset(name, 'n', sizeof name);
    name[SHM_KEY_MAX + 1] = '\0';
    ck_assert_int_eq(set(name, "v", 0), -E2BIG);
    ck_assert_int_eq(set("", "v", 0), -EINVAL);
    ck_assert_int_eq(shm_key_set(shm, "notes", NULL, "v", 1, 0), -EINVAL);
    ck_assert_int_eq(set("a", "v", -1), -EINVAL);
    ck_assert_int_eq(shm_key_set(shm, "notes", "a", NULL, 1, 0), -EINVAL);
    ck_assert_int_eq(shm_key_set(shm, "notes", "a", NULL, 0, 0), 0);
    ck_assert_int_eq(shm_key_set(shm, "notes", "a", "v", stats().value_max + 1, 0), -E2BIG);
    ck_assert_int_eq(shm_key_set(shm, "notes", "a", "v", SIZE_MAX, 0), -E2BIG);
    name[SHM_KEY_MAX] = '\0';
    ck_assert_int_eq(set(name, "v", 0), 0);
    expect(name, "v");
    name[SHM_COLLECTION_MAX + 1] = '\0';
    ck_assert_int_eq(shm_key_set(shm, name, "a", "v", 1, 0), -E2BIG);
    ck_assert_int_eq(shm_keys_clear(shm, name), -E2BIG);
    ck_assert_int_eq(shm_keys_clear(shm, NULL), -EINVAL);
    char *value = NULL;
    ck_assert_int_eq(shm_key_get(shm, "notes", "a", give_nothing, NULL, &value, NULL), -ENOMEM);
    ck_assert_ptr_null(value);
}
END_TEST

START_TEST(large_values_are_whole)
{
    size_t len = stats().value_max, read;
    char *bytes = malloc(len), *copy, *part = malloc(len);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 7 / 3);
    ck_assert_int_eq(shm_key_set(shm, "notes", "large", bytes, len, 0), 0);
    ck_assert_int_eq(shm_key_get(shm, "notes", "large", give, NULL, &copy, &read), 0);
    ck_assert_uint_eq(read, len);
    ck_assert(memcmp(copy, bytes, len) == 0);
    ck_assert_int_eq(copy[len], 0);
    ck_assert_int_eq(shm_key_read(shm, "notes", "large", part, len - 1, &read), 0);
    ck_assert_uint_eq(read, len);
    ck_assert(memcmp(part, bytes, len - 1) == 0);
    free(bytes);
    free(copy);
    free(part);
}
END_TEST

START_TEST(create_makes_a_key_only_once)
{
    ck_assert_int_eq(shm_key_create(shm, "notes", "a", "1", 1, 0), 0);
    ck_assert_int_eq(shm_key_create(shm, "notes", "a", "2", 1, 0), -EEXIST);
    expect("a", "1");
    uint64_t used = stats().store_used;
    ck_assert_int_eq(shm_key_create(shm, "notes", "a", "2", 1, 0), -EEXIST);
    ck_assert_uint_eq(stats().store_used, used);
}
END_TEST

START_TEST(cas_changes_only_what_was_expected)
{
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", "1", 1, "2", 1, 0), -ENOENT);
    ck_assert_int_eq(set("a", "1", 0), 0);
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", "0", 1, "2", 1, 0), -EAGAIN);
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", "11", 2, "2", 1, 0), -EAGAIN);
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", NULL, 0, "2", 1, 0), -EAGAIN);
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", NULL, 1, "2", 1, 0), -EINVAL);
    expect("a", "1");
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", "1", 1, "two", 3, 0), 0);
    expect("a", "two");
    ck_assert_int_eq(shm_key_delete(shm, "notes", "a"), 0);
    ck_assert_uint_eq(stats().store_used, 0);
}
END_TEST

static int incr(const char *key, int64_t amount, int64_t *ret_value)
{
    return shm_key_incr(shm, "notes", key, amount, 0, ret_value);
}

START_TEST(incr_adds_to_decimal_text)
{
    static const char *const senseless[] = {"",
                                            "-",
                                            "x",
                                            "1x",
                                            "x1",
                                            " 1",
                                            "1 ",
                                            "+1",
                                            "1.0",
                                            "--1",
                                            "9223372036854775808",
                                            "0x10",
                                            "1\n",
                                            "1e3",
                                            "-9223372036854775809",
                                            "00000000000000000000000001"};
    int64_t value = 77;
    ck_assert_int_eq(incr("n", 5, &value), 0);
    ck_assert_int_eq(value, 5);
    ck_assert_int_eq(incr("n", -15, &value), 0);
    ck_assert_int_eq(value, -10);
    expect("n", "-10");
    ck_assert_int_eq(incr("n", 1, NULL), 0);
    expect("n", "-9");
    value = 77;
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        ck_assert_int_eq(set("n", senseless[i], 0), 0);
        ck_assert_msg(incr("n", 1, &value) == -EINVAL, "%s", senseless[i]);
    }
    ck_assert_int_eq(shm_key_set(shm, "notes", "n", "1\0", 2, 0), 0);
    ck_assert_int_eq(incr("n", 1, &value), -EINVAL);
    ck_assert_int_eq(set("n", "9223372036854775807", 0), 0);
    ck_assert_int_eq(incr("n", 1, &value), -EOVERFLOW);
    ck_assert_int_eq(value, 77);
    ck_assert_int_eq(incr("n", INT64_MIN, &value), 0);
    ck_assert_int_eq(incr("n", INT64_MIN, &value), -EOVERFLOW);
    ck_assert_int_eq(set("n", "0", 0), 0);
    ck_assert_int_eq(incr("n", INT64_MIN, &value), 0);
    expect("n", "-9223372036854775808");
}
END_TEST

static void wait_until_gone(const char *key)
{
    while (shm_key_read(shm, "notes", key, NULL, 0, NULL) != -ENOENT)
        usleep(500);
}

START_TEST(keys_expire)
{
    int64_t value;
    ck_assert_int_eq(set("a", "1", 1), 0);
    ck_assert_int_eq(set("b", "1", 0), 0);
    ck_assert_int_eq(set("c", "1", INT64_MAX), 0);
    ck_assert_int_eq(set("d", "1", 3600000), 0);
    wait_until_gone("a");
    expect("b", "1");
    expect("c", "1");
    expect("d", "1");
    ck_assert_int_eq(shm_key_delete(shm, "notes", "a"), -ENOENT);
    ck_assert_int_eq(set("a", "1", 1), 0);
    wait_until_gone("a");
    ck_assert_int_eq(shm_key_cas(shm, "notes", "a", "1", 1, "2", 1, 0), -ENOENT);
    ck_assert_int_eq(shm_key_create(shm, "notes", "a", "2", 1, 0), 0);
    expect("a", "2");
    /* A number keeps the deadline it was made with. */
    ck_assert_int_eq(shm_key_incr(shm, "notes", "n", 1, 1, &value), 0);
    wait_until_gone("n");
    ck_assert_int_eq(shm_key_incr(shm, "notes", "n", 1, 20, &value), 0);
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(shm_key_incr(shm, "notes", "n", 1, 0, &value), 0);
    wait_until_gone("n");
    ck_assert_uint_ge(stats().keys, 4);
}
END_TEST

/* Returns how many were set. */
static int fill(size_t len, int64_t ttl_ms)
{
    char *bytes = calloc(1, len);
    char key[16];
    int n = 0, error = 0;
    for (; error == 0; n++) {
        snprintf(key, sizeof key, "%d", n);
        error = shm_key_set(shm, "notes", key, bytes, len, ttl_ms);
    }
    ck_assert_int_eq(error, -ENOSPC);
    free(bytes);
    return n - 1;
}

START_TEST(case_103_a_full_store_is_an_error_and_becomes_usable_again)
{
    static const size_t sizes[] = {10, 100, 3000, 100000};
    size_t len = stats().value_max;
    char *large = calloc(1, len);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char key[16];
        int n = fill(sizes[i], 0);
        ck_assert_int_gt(n, 0);
        ck_assert_uint_eq(stats().keys, (unsigned)n);
        ck_assert_int_eq(shm_key_set(shm, "notes", "new", large, len, 0), -ENOSPC);
        for (int k = 0; k < n; k += 2) {
            snprintf(key, sizeof key, "%d", k);
            ck_assert_int_eq(shm_key_delete(shm, "notes", key), 0);
        }
        ck_assert_int_gt(fill(sizes[i], 0), n / 2);
        ck_assert_int_eq(shm_keys_clear(shm, "notes"), 0);
        ck_assert_uint_eq(stats().store_used, 0);
        ck_assert_uint_eq(stats().keys, 0);
        ck_assert_int_eq(shm_key_set(shm, "notes", "new", large, len, 0), 0);
        ck_assert_int_eq(shm_key_delete(shm, "notes", "new"), 0);
    }
    free(large);
}
END_TEST

START_TEST(keys_in_a_full_store_can_be_changed)
{
    int64_t value;
    ck_assert_int_eq(incr("n", 1, &value), 0);
    ck_assert_int_eq(set("text", "0123456789", 0), 0);
    fill(10, 0);
    ck_assert_int_eq(incr("m", 1, &value), -ENOSPC);
    ck_assert_int_eq(shm_key_create(shm, "notes", "n", "1", 1, 0), -EEXIST);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(incr("n", 1, &value), 0);
    ck_assert_int_eq(value, 101);
    ck_assert_int_eq(set("text", "9876543210", 0), 0);
    expect("text", "9876543210");
}
END_TEST

START_TEST(expired_keys_make_room)
{
    ck_assert_int_eq(set("stays", "1", 0), 0);
    int n = fill(1000, 500);
    char key[16];
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%d", i);
        wait_until_gone(key);
    }
    ck_assert_int_gt((int)stats().keys, n / 2);
    ck_assert_int_eq(fill(1000, 0), n);
    ck_assert_int_eq((int)stats().keys, n + 1);
    expect("stays", "1");
}
END_TEST

struct seen {
    int count;
    int stop_at;
    bool keys[1000];
};

static int see(void *data, const char *key, size_t len)
{
    struct seen *seen = data;
    ck_assert_uint_eq(strlen(key), len);
    int n = atoi(key);
    ck_assert(n >= 0 && n < 1000 && !seen->keys[n]);
    seen->keys[n] = true;
    /* No lock is held: the store can be used. */
    ck_assert_int_eq(shm_key_delete(shm, "notes", key), 0);
    return ++seen->count == seen->stop_at ? -ECANCELED : 0;
}

START_TEST(each_key_of_a_collection_comes_once)
{
    struct seen seen = {0};
    char key[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        ck_assert_int_eq(set(key, "v", i == 5 ? 1 : 0), 0);
        ck_assert_int_eq(shm_key_set(shm, "note", key, "v", 1, 0), 0);
    }
    wait_until_gone("5");
    seen.stop_at = 10;
    ck_assert_int_eq(shm_keys_each(shm, "notes", see, &seen), -ECANCELED);
    ck_assert_int_eq(seen.count, 10);
    seen.stop_at = 0;
    ck_assert_int_eq(shm_keys_each(shm, "notes", see, &seen), 0);
    ck_assert_int_eq(seen.count, 999);
    ck_assert(!seen.keys[5]);
    ck_assert_int_eq(shm_keys_clear(shm, "notes"), 0);
    ck_assert_uint_eq(stats().keys, 1000);
    ck_assert_int_eq(shm_keys_clear(shm, "note"), 0);
    ck_assert_uint_eq(stats().store_used, 0);
}
END_TEST

static sigjmp_buf back;
static volatile sig_atomic_t held_at_fault;

static void on_fault(int number)
{
    (void)number;
    held_at_fault = shm_holds_lock();
    siglongjmp(back, 1);
}

static int use_bad_pointer(int how, char *bad)
{
    switch (how) {
    case 0:
        return shm_key_set(shm, "notes", "a", bad, 100, 0);
    case 1:
        return shm_key_read(shm, "notes", "a", bad, 100, NULL);
    case 2:
        return shm_key_cas(shm, "notes", "a", bad, 5, "v", 1, 0);
    case 3:
        return shm_key_cas(shm, "notes", "a", "value", 5, bad, 1, 0);
    case 4:
        return shm_key_create(shm, "notes", "b", bad, 1, 0);
    case 5:
        return shm_key_delete(shm, "notes", bad);
    default:
        return shm_keys_clear(shm, bad);
    }
}

START_TEST(a_bad_pointer_faults_with_no_lock_held)
{
    char *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_fault);
    ck_assert_int_eq(set("a", "value", 0), 0);
    for (volatile int i = 0; i < 7; i++) {
        held_at_fault = -1;
        if (sigsetjmp(back, 1) == 0) {
            int error = use_bad_pointer(i, bad);
            ck_abort_msg("no fault in %d, result %d", i, error);
        }
        ck_assert_int_eq(held_at_fault, 0);
        ck_assert(!shm_holds_lock());
    }
    expect("a", "value");
    ck_assert_int_eq(set("a", "other", 0), 0);
}
END_TEST

/* A value tells its own length and is made of one byte, so a torn one is noticed. */
static bool is_whole(const char *bytes, size_t len)
{
    uint32_t said;
    if (len < sizeof said)
        return false;
    memcpy(&said, bytes, sizeof said);
    for (size_t i = sizeof said; i < len; i++) {
        if (bytes[i] != (char)len)
            return false;
    }
    return said == len;
}

static void *hammer(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data;
    char bytes[4000], key[8];
    for (int i = 0; i < 3000; i++) {
        uint32_t size = 4 + (uint32_t)rand_r(&seed) % (sizeof bytes - 4);
        size_t len;
        snprintf(key, sizeof key, "%d", rand_r(&seed) % 20);
        memset(bytes, (char)size, size);
        memcpy(bytes, &size, sizeof size);
        shm_key_incr(shm, "numbers", "n", 1, 0, NULL);
        if (i % 7 == 0)
            shm_key_delete(shm, "notes", key);
        else if (i % 3 == 0)
            shm_key_set(shm, "notes", key, bytes, size, i % 2 ? 1 : 0);
        else if (shm_key_read(shm, "notes", key, bytes, sizeof bytes, &len) == 0 && !is_whole(bytes, len))
            return "torn";
        if (i % 500 == 0)
            shm_keys_clear(shm, "notes");
    }
    return NULL;
}

START_TEST(threads_never_see_a_torn_value)
{
    pthread_t threads[4];
    void *result[4];
    int64_t value;
    for (uintptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], &result[i]);
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_null(result[i]);
    ck_assert_int_eq(shm_key_incr(shm, "numbers", "n", 0, 0, &value), 0);
    ck_assert_int_eq(value, 12000);
    ck_assert_int_eq(shm_keys_clear(shm, "notes"), 0);
    ck_assert_int_eq(shm_keys_clear(shm, "numbers"), 0);
    ck_assert_uint_eq(stats().store_used, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_keys");
    TCase *tcase = tcase_create("keys");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_is_set_is_read);
    tcase_add_test(tcase, names_cannot_be_taken_for_others);
    tcase_add_test(tcase, senseless_arguments_are_refused);
    tcase_add_test(tcase, large_values_are_whole);
    tcase_add_test(tcase, create_makes_a_key_only_once);
    tcase_add_test(tcase, cas_changes_only_what_was_expected);
    tcase_add_test(tcase, incr_adds_to_decimal_text);
    tcase_add_test(tcase, keys_expire);
    tcase_add_test(tcase, case_103_a_full_store_is_an_error_and_becomes_usable_again);
    tcase_add_test(tcase, keys_in_a_full_store_can_be_changed);
    tcase_add_test(tcase, expired_keys_make_room);
    tcase_add_test(tcase, each_key_of_a_collection_comes_once);
    tcase_add_test(tcase, a_bad_pointer_faults_with_no_lock_held);
    tcase_add_test(tcase, threads_never_see_a_torn_value);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
