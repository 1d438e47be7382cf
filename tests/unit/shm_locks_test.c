#include "shm/counters.h"
#include "shm/locks.h"
#include "shm/segment.h"
#include "shm/worker.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS 60000

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

static uint64_t held(void)
{
    struct shm_stats stats;
    shm_stats(shm, &stats);
    return stats.locks;
}

START_TEST(one_owner_at_a_time)
{
    ck_assert_int_eq(shm_lock(shm, "a", 1, 0), 0);
    ck_assert_int_eq(shm_lock(shm, "a", 1, 0), -EDEADLK);
    ck_assert_int_eq(shm_lock(shm, "a", 1, LONG_MS), -EDEADLK);
    ck_assert_int_eq(shm_lock(shm, "a", 2, 0), -ETIMEDOUT);
    ck_assert_int_eq(shm_lock(shm, "a", 2, 5), -ETIMEDOUT);
    ck_assert_int_eq(shm_lock(shm, "b", 2, 0), 0);
    ck_assert_int_eq(shm_unlock(shm, "a", 2), -EPERM);
    ck_assert_int_eq(shm_unlock(shm, "a", 1), 0);
    ck_assert_int_eq(shm_unlock(shm, "a", 1), -ENOENT);
    ck_assert_int_eq(shm_lock(shm, "a", 2, 0), 0);
    ck_assert_uint_eq(held(), 2);
}
END_TEST

START_TEST(senseless_arguments_are_refused)
{
    char name[SHM_LOCK_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(shm_lock(shm, name, 1, 0), -E2BIG);
    ck_assert_int_eq(shm_lock(shm, "", 1, 0), -EINVAL);
    ck_assert_int_eq(shm_lock(shm, NULL, 1, 0), -EINVAL);
    ck_assert_int_eq(shm_lock(shm, "a", 1, -1), -EINVAL);
    ck_assert_int_eq(shm_unlock(shm, name, 1), -E2BIG);
    ck_assert_uint_eq(held(), 0);
}
END_TEST

START_TEST(all_locks_of_an_owner_are_released)
{
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "%d", i);
        ck_assert_int_eq(shm_lock(shm, name, 1 + (uint64_t)i % 2, 0), 0);
    }
    shm_unlock_all(shm, 1);
    ck_assert_uint_eq(held(), 20);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "%d", i);
        ck_assert_int_eq(shm_lock(shm, name, 3, 0), i % 2 ? -ETIMEDOUT : 0);
    }
}
END_TEST

START_TEST(too_many_are_refused)
{
    struct shm_stats stats;
    char name[16];
    int error = 0;
    for (int i = 0; error == 0; i++) {
        snprintf(name, sizeof name, "%d", i);
        error = shm_lock(shm, name, 1, 0);
    }
    ck_assert_int_eq(error, -ENOSPC);
    shm_stats(shm, &stats);
    ck_assert_uint_le(stats.locks, stats.locks_max);
    shm_unlock_all(shm, 1);
    ck_assert_uint_eq(held(), 0);
    ck_assert_int_eq(shm_lock(shm, name, 1, 0), 0);
}
END_TEST

static int64_t guarded;

static void *take_turns(void *data)
{
    uint64_t owner = (uint64_t)(uintptr_t)data;
    for (int i = 0; i < 300; i++) {
        if (shm_lock(shm, "turn", owner, LONG_MS) < 0)
            return NULL;
        guarded++;
        shm_unlock(shm, "turn", owner);
    }
    return NULL;
}

START_TEST(threads_exclude_each_other)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_turns, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(guarded, 1200);
}
END_TEST

#define PROCESSES 4
#define TIMES 300

START_TEST(processes_exclude_each_other)
{
    struct shm_counter *inside, *done;
    pid_t pids[PROCESSES];
    ck_assert_int_eq(shm_counter_open(shm, "inside", &inside), 0);
    ck_assert_int_eq(shm_counter_open(shm, "done", &done), 0);
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p] > 0)
            continue;
        shm_worker_join(shm);
        for (int i = 0; i < TIMES; i++) {
            /* The owner's number is the same in each, but not its process. */
            if (shm_lock(shm, "turn", 1, LONG_MS) < 0 || shm_counter_add(shm, inside, 1) != 1)
                _exit(1);
            shm_counter_add(shm, done, 1);
            shm_counter_add(shm, inside, -1);
            if (shm_unlock(shm, "turn", 1) < 0)
                _exit(1);
        }
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        waitpid(pids[p], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(shm_counter_get(done), PROCESSES * TIMES);
}
END_TEST

/* Starts a process that takes a lock and is killed; it is not reaped yet. */
static pid_t kill_a_holder(const char *name)
{
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        shm_worker_join(shm);
        if (shm_lock(shm, name, 1, 0) == 0 && write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    ck_assert_int_eq(shm_lock(shm, name, 1, 0), -ETIMEDOUT);
    kill(pid, SIGKILL);
    return pid;
}

START_TEST(a_dead_workers_locks_are_released)
{
    pid_t pid = kill_a_holder("a");
    waitpid(pid, NULL, 0);
    shm_worker_gone(shm, pid);
    ck_assert_uint_eq(held(), 0);
    ck_assert_int_eq(shm_lock(shm, "a", 2, 0), 0);
}
END_TEST

START_TEST(a_lock_of_a_process_that_is_no_more_can_be_taken)
{
    waitpid(kill_a_holder("a"), NULL, 0);
    ck_assert_int_eq(shm_lock(shm, "a", 2, 0), 0);
    ck_assert_uint_eq(held(), 1);
}
END_TEST

static void *wait_for_it(void *data)
{
    *(int *)data = shm_lock(shm, "a", 2, LONG_MS);
    return NULL;
}

START_TEST(who_waits_for_a_dead_worker_is_woken)
{
    int result = 1;
    pthread_t thread;
    pid_t pid = kill_a_holder("a");
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_it, &result), 0);
    usleep(20000);
    waitpid(pid, NULL, 0);
    shm_worker_gone(shm, pid);
    pthread_join(thread, NULL);
    ck_assert_int_eq(result, 0);
}
END_TEST

static void *lock_and_unlock(void *data)
{
    if (shm_lock(shm, "a", 2, LONG_MS) == 0)
        *(int *)data += shm_unlock(shm, "a", 2) == 0;
    return NULL;
}

/* A wake-up that is lost costs a second each time, and then the time for this test runs out. */
START_TEST(who_waits_is_woken_by_the_release)
{
    int done = 0;
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        ck_assert_int_eq(shm_lock(shm, "a", 1, 0), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, lock_and_unlock, &done), 0);
        usleep(2000);
        ck_assert_int_eq(shm_unlock(shm, "a", 1), 0);
        pthread_join(thread, NULL);
    }
    ck_assert_int_eq(done, 50);
}
END_TEST

START_TEST(processes_killed_while_they_lock_block_nobody)
{
    unsigned seed = 3;
    for (int round = 0; round < 100; round++) {
        pid_t pid = fork();
        if (pid == 0) {
            shm_worker_join(shm);
            for (uint64_t i = 0;; i++) {
                char name[2] = {(char)('a' + i % 5), '\0'};
                shm_lock(shm, name, i, 0);
                if (i % 3)
                    shm_unlock_all(shm, i);
            }
        }
        usleep((unsigned)rand_r(&seed) % 1500);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        shm_worker_gone(shm, pid);
        ck_assert_uint_eq(held(), 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_locks");
    TCase *tcase = tcase_create("locks");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, one_owner_at_a_time);
    tcase_add_test(tcase, senseless_arguments_are_refused);
    tcase_add_test(tcase, all_locks_of_an_owner_are_released);
    tcase_add_test(tcase, too_many_are_refused);
    tcase_add_test(tcase, threads_exclude_each_other);
    tcase_add_test(tcase, processes_exclude_each_other);
    tcase_add_test(tcase, a_dead_workers_locks_are_released);
    tcase_add_test(tcase, a_lock_of_a_process_that_is_no_more_can_be_taken);
    tcase_add_test(tcase, who_waits_for_a_dead_worker_is_woken);
    tcase_add_test(tcase, who_waits_is_woken_by_the_release);
    tcase_add_test(tcase, processes_killed_while_they_lock_block_nobody);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
