#include "shm/counters.h"
#include "shm/segment.h"
#include "shm/worker.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shm *shm;

static void setup(void)
{
    ck_assert_int_eq(shm_create(NULL, SHM_SIZE_MIN, &shm), 0);
    ck_assert_int_eq(shm_worker_join(shm), 0);
}

static void teardown(void)
{
    shm_close(shm);
}

static struct shm_counter *counter(const char *name)
{
    struct shm_counter *made = NULL;
    ck_assert_int_eq(shm_counter_open(shm, name, &made), 0);
    return made;
}

START_TEST(a_name_is_one_counter)
{
    struct shm_counter *hits = counter("hits");
    ck_assert_ptr_eq(counter("hits"), hits);
    ck_assert_ptr_ne(counter("hit"), hits);
    ck_assert_int_eq(shm_counter_get(hits), 0);
    ck_assert_int_eq(shm_counter_add(shm, hits, 40), 40);
    ck_assert_int_eq(shm_counter_add(shm, hits, -3), 37);
    ck_assert_int_eq(shm_counter_add(shm, hits, INT64_MAX - 37), INT64_MAX);
    ck_assert_int_eq(shm_counter_add(shm, hits, 1), INT64_MIN);
    ck_assert_int_eq(shm_counter_get(hits), INT64_MIN);
    ck_assert_uint_eq((uintptr_t)hits % 64, 0);
}
END_TEST

START_TEST(names_are_bounded)
{
    char name[SHM_COUNTER_NAME_MAX + 2];
    struct shm_counter *made = NULL;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(shm_counter_open(shm, name, &made), -E2BIG);
    ck_assert_int_eq(shm_counter_open(shm, "", &made), -EINVAL);
    ck_assert_int_eq(shm_counter_open(shm, NULL, &made), -EINVAL);
    ck_assert_ptr_null(made);
    name[SHM_COUNTER_NAME_MAX] = '\0';
    ck_assert_int_eq(shm_counter_open(shm, name, &made), 0);
}
END_TEST

START_TEST(a_name_is_of_one_kind)
{
    struct shm_counter *other = NULL;
    counter("a");
    ck_assert_int_eq(shm_gauge_open(shm, "a", &other), -EEXIST);
    ck_assert_int_eq(shm_gauge_open(shm, "b", &other), 0);
    ck_assert_int_eq(shm_counter_open(shm, "b", &other), -EEXIST);
}
END_TEST

START_TEST(a_full_table_is_an_error_and_the_others_work)
{
    struct shm_stats stats;
    struct shm_counter *first = counter("0"), *more = NULL;
    char name[32];
    int error = 0, made = 0;
    for (int i = 0; error == 0; i++, made++) {
        snprintf(name, sizeof name, "%d", i);
        error = shm_counter_open(shm, name, &more);
    }
    ck_assert_int_eq(error, -ENOSPC);
    shm_stats(shm, &stats);
    ck_assert_uint_eq(stats.counters, stats.counters_max);
    ck_assert_int_eq(made - 1, (int)stats.counters_max);
    ck_assert_ptr_eq(counter("0"), first);
    ck_assert_int_eq(shm_counter_add(shm, first, 1), 1);
}
END_TEST

#define THREADS 4
#define ADDS 5000

static void *add_many(void *data)
{
    int64_t *results = data;
    struct shm_counter *ids = counter("ids");
    for (int i = 0; i < ADDS; i++)
        results[i] = shm_counter_add(shm, ids, 1);
    return NULL;
}

START_TEST(each_result_of_an_add_is_unique)
{
    static int64_t results[THREADS][ADDS];
    static bool seen[THREADS * ADDS + 1];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_many, results[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS * ADDS; i++) {
        int64_t n = results[i / ADDS][i % ADDS];
        ck_assert(n > 0 && n <= THREADS * ADDS && !seen[n]);
        seen[n] = true;
    }
}
END_TEST

#define PROCESSES 6
#define NAMES 100

START_TEST(processes_that_open_a_name_at_once_get_the_same)
{
    pid_t pids[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p] > 0)
            continue;
        for (int i = 0; i < NAMES; i++) {
            char name[32];
            struct shm_counter *made;
            snprintf(name, sizeof name, "counter %d", i);
            if (shm_counter_open(shm, name, &made) < 0)
                _exit(1);
            shm_counter_add(shm, made, 1);
        }
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        waitpid(pids[p], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    struct shm_stats stats;
    shm_stats(shm, &stats);
    ck_assert_uint_eq(stats.counters, NAMES);
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "counter %d", i);
        ck_assert_int_eq(shm_counter_get(counter(name)), PROCESSES);
    }
}
END_TEST

START_TEST(a_process_killed_in_open_blocks_nobody)
{
    for (int round = 0; round < 60; round++) {
        pid_t pid = fork();
        if (pid == 0) {
            for (unsigned i = 0;; i++) {
                char name[32];
                struct shm_counter *made;
                snprintf(name, sizeof name, "round %d, %u", round, i % 3);
                if (shm_counter_open(shm, name, &made) == 0)
                    shm_counter_add(shm, made, 1);
            }
        }
        usleep((unsigned)round * 20);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        shm_worker_gone(shm, pid);
        char name[32];
        snprintf(name, sizeof name, "round %d, 0", round);
        counter(name);
    }
    struct shm_stats stats;
    shm_stats(shm, &stats);
    ck_assert_uint_ge(stats.counters, 60);
    ck_assert_uint_le(stats.counters, 180);
}
END_TEST

START_TEST(a_gauge_loses_the_share_of_a_dead_worker)
{
    struct shm_counter *online, *total = counter("total");
    ck_assert_int_eq(shm_gauge_open(shm, "online", &online), 0);
    ck_assert_int_eq(shm_counter_add(shm, online, 2), 2);
    pid_t pid = fork();
    if (pid == 0) {
        if (shm_worker_join(shm) < 0)
            _exit(1);
        shm_counter_add(shm, total, 10);
        _exit(shm_counter_add(shm, online, 10) != 12 || shm_counter_add(shm, online, -1) != 11);
    }
    int status;
    waitpid(pid, &status, 0);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(shm_counter_get(online), 11);
    shm_worker_gone(shm, pid);
    ck_assert_int_eq(shm_counter_get(online), 2);
    ck_assert_int_eq(shm_counter_get(total), 10);
    ck_assert_int_eq(shm_counter_add(shm, online, -2), 0);
    shm_worker_gone(shm, pid);
    ck_assert_int_eq(shm_counter_get(online), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_counters");
    TCase *tcase = tcase_create("counters");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_name_is_one_counter);
    tcase_add_test(tcase, names_are_bounded);
    tcase_add_test(tcase, a_name_is_of_one_kind);
    tcase_add_test(tcase, a_full_table_is_an_error_and_the_others_work);
    tcase_add_test(tcase, each_result_of_an_add_is_unique);
    tcase_add_test(tcase, processes_that_open_a_name_at_once_get_the_same);
    tcase_add_test(tcase, a_process_killed_in_open_blocks_nobody);
    tcase_add_test(tcase, a_gauge_loses_the_share_of_a_dead_worker);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
