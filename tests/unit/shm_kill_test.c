/* Writers are killed at any instruction. Whatever they were doing: nobody is blocked, every value is whole,
   nothing is lost and nothing leaks. */
#include "base/clock.h"
#include "shm/shm.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITERS 3
#define KEYS 40
#define VALUE_MAX 3000
#define KILL_FOR_MS 1500
#define STEPS 10000

static struct shm *shm;

static void setup(void)
{
    ck_assert_int_eq(shm_create(NULL, SHM_SIZE_MIN, &shm), 0);
}

static void teardown(void)
{
    shm_close(shm);
}

static uint32_t make_value(char *bytes, unsigned *seed)
{
    uint32_t len = 4 + (uint32_t)rand_r(seed) % (VALUE_MAX - 4);
    memset(bytes, (char)len, len);
    memcpy(bytes, &len, sizeof len);
    return len;
}

static bool is_whole(const char *bytes, size_t len)
{
    uint32_t said;
    if (len < sizeof said || len > VALUE_MAX)
        return false;
    memcpy(&said, bytes, sizeof said);
    for (size_t i = sizeof said; i < len; i++) {
        if (bytes[i] != (char)len)
            return false;
    }
    return said == len;
}

static void write_for_ever(unsigned seed)
{
    char bytes[VALUE_MAX], key[16];
    for (;;) {
        size_t len;
        snprintf(key, sizeof key, "%d", rand_r(&seed) % KEYS);
        uint32_t size = make_value(bytes, &seed);
        switch (rand_r(&seed) % 8) {
        case 0:
            shm_key_delete(shm, "notes", key);
            break;
        case 1:
            shm_key_create(shm, "notes", key, bytes, size, 1);
            break;
        case 2:
            shm_key_incr(shm, "numbers", key, 1, 0, NULL);
            break;
        case 3:
            if (shm_key_read(shm, "notes", key, bytes, sizeof bytes, &len) == 0 && !is_whole(bytes, len))
                _exit(1);
            break;
        case 4:
            if (rand_r(&seed) % 32 == 0)
                shm_keys_clear(shm, "notes");
            break;
        default:
            shm_key_set(shm, "notes", key, bytes, size, 0);
        }
    }
}

static pid_t start_writer(unsigned seed)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (shm_worker_join(shm) < 0)
            _exit(2);
        write_for_ever(seed);
    }
    return pid;
}

static int check_key(void *data, const char *key, size_t key_len)
{
    char bytes[VALUE_MAX];
    size_t len;
    (void)data;
    (void)key_len;
    if (shm_key_read(shm, "notes", key, bytes, sizeof bytes, &len) == 0)
        ck_assert(is_whole(bytes, len));
    return 0;
}

static void expect_nothing_is_left(void)
{
    struct shm_stats stats;
    ck_assert_int_eq(shm_keys_clear(shm, "notes"), 0);
    ck_assert_int_eq(shm_keys_clear(shm, "numbers"), 0);
    shm_stats(shm, &stats);
    ck_assert_uint_eq(stats.keys, 0);
    ck_assert_uint_eq(stats.store_used, 0);
    char *large = calloc(1, stats.value_max);
    ck_assert_int_eq(shm_key_set(shm, "notes", "large", large, stats.value_max, 0), 0);
    ck_assert_int_eq(shm_key_delete(shm, "notes", "large"), 0);
    free(large);
}

static void bury(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    shm_worker_gone(shm, pid);
}

/* Some writers always go on while another is killed; from time to time all are, to see that nothing has
   leaked. */
START_TEST(writers_killed_at_any_time)
{
    pid_t pids[WRITERS];
    unsigned seed = (unsigned)time(NULL);
    int64_t end = monotonic_ms() + KILL_FOR_MS;
    for (int round = 0; round < 2 || monotonic_ms() < end; round++) {
        for (int i = 0; i < WRITERS; i++)
            pids[i] = start_writer(seed + (unsigned)i);
        for (int i = 0; i < 30; i++) {
            usleep((unsigned)rand_r(&seed) % 500);
            bury(pids[i % WRITERS]);
            pids[i % WRITERS] = start_writer((unsigned)rand_r(&seed));
            ck_assert_int_eq(shm_key_incr(shm, "numbers", "mine", 1, 0, NULL), 0);
        }
        for (int i = 0; i < WRITERS; i++)
            bury(pids[i]);
        ck_assert_int_eq(shm_keys_each(shm, "notes", check_key, NULL), 0);
        expect_nothing_is_left();
    }
}
END_TEST

enum operation { REPLACE, CREATE, DELETE, INCR, LOCK, OPERATIONS };

static void operate(enum operation operation)
{
    struct shm_counter *counter;
    switch (operation) {
    case REPLACE:
        shm_key_set(shm, "notes", "key", "new value", 9, 0);
        break;
    case CREATE:
        shm_key_create(shm, "notes", "other", "new value", 9, 0);
        break;
    case DELETE:
        shm_key_delete(shm, "notes", "key");
        break;
    case INCR:
        shm_key_incr(shm, "notes", "number", 1, 0, NULL);
        break;
    default:
        shm_lock(shm, "lock", 1, 0);
        shm_unlock_all(shm, 1);
        shm_counter_open(shm, "counter", &counter);
    }
}

/* Runs an operation in a process of its own, and kills it after so many instructions. -1: no tracing here.
   Returns how many ran. */
static long run_steps(enum operation operation, long steps)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (shm_worker_join(shm) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(3);
        raise(SIGSTOP);
        operate(operation);
        raise(SIGUSR1);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    if (!WIFSTOPPED(status))
        return -1;
    long step = 0;
    for (; step < steps; step++) {
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
            break;
        waitpid(pid, &status, 0);
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
            break;
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    shm_worker_gone(shm, pid);
    return step;
}

static bool reads(const char *key, const char *expected)
{
    char value[32];
    size_t len;
    int error = shm_key_read(shm, "notes", key, value, sizeof value, &len);
    if (expected == NULL)
        return error == -ENOENT;
    return error == 0 && len == strlen(expected) && memcmp(value, expected, len) == 0;
}

static void prepare(void)
{
    ck_assert_int_eq(shm_key_set(shm, "notes", "before", "stays", 5, 0), 0);
    ck_assert_int_eq(shm_key_set(shm, "notes", "key", "old value", 9, 0), 0);
    ck_assert_int_eq(shm_key_set(shm, "notes", "number", "41", 2, 0), 0);
    ck_assert_int_eq(shm_key_set(shm, "others", "after", "stays", 5, 0), 0);
}

static void expect_old_or_new(enum operation operation)
{
    struct shm_stats stats;
    ck_assert(reads("before", "stays"));
    ck_assert(reads("key", "old value") || (operation == REPLACE && reads("key", "new value")) ||
              (operation == DELETE && reads("key", NULL)));
    ck_assert(reads("number", "41") || (operation == INCR && reads("number", "42")));
    ck_assert(reads("other", NULL) || (operation == CREATE && reads("other", "new value")));
    ck_assert_int_eq(shm_key_read(shm, "others", "after", NULL, 0, NULL), 0);
    ck_assert_int_eq(shm_lock(shm, "lock", 2, 0), 0);
    ck_assert_int_eq(shm_unlock(shm, "lock", 2), 0);
    ck_assert_int_eq(shm_keys_clear(shm, "others"), 0);
    expect_nothing_is_left();
    shm_stats(shm, &stats);
    ck_assert_uint_eq(stats.locks, 0);
}

/* With SHM_KILL_ALL in the environment at each instruction, else at as many as STEPS in all allow, others in
   each run. */
START_TEST(an_operation_killed_at_each_of_its_instructions)
{
    enum operation operation = (enum operation)_i;
    prepare();
    long all = run_steps(operation, LONG_MAX);
    if (all < 0) {
        fprintf(stderr, "skipped: a process cannot be traced here\n");
        return;
    }
    shm_keys_clear(shm, "notes");
    long stride = getenv("SHM_KILL_ALL") ? 1 : all * all / 2 / STEPS + 1;
    for (long step = stride > 1 ? time(NULL) % stride : 0; step <= all; step += stride) {
        prepare();
        run_steps(operation, step);
        expect_old_or_new(operation);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_kill");
    TCase *tcase = tcase_create("kill");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, getenv("SHM_KILL_ALL") ? 0 : 60);
    tcase_add_test(tcase, writers_killed_at_any_time);
    tcase_add_loop_test(tcase, an_operation_killed_at_each_of_its_instructions, 0, OPERATIONS);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
