#include "app/pool.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MANY 2000

struct task {
    struct job job;
    atomic_int runs;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int begun, births, ends;

static void count(struct job *job)
{
    atomic_fetch_add(&((struct task *)job)->runs, 1);
}

static void wait_at_gate(struct job *job)
{
    atomic_fetch_add(&begun, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    count(job);
}

static void await(const atomic_int *number, int value)
{
    while (atomic_load(number) < value)
        usleep(1000);
}

static int birth(void *user)
{
    ck_assert_ptr_eq(user, &births);
    atomic_fetch_add(&births, 1);
    return 0;
}

static void end(void *user)
{
    (void)user;
    atomic_fetch_add(&ends, 1);
}

START_TEST(each_job_runs_once)
{
    static struct task tasks[MANY];
    const struct pool_hooks hooks = {birth, end, &births};
    struct pool *pool = pool_create(4, MANY, &hooks);
    ck_assert_int_eq(pool_start(pool), 0);
    for (int i = 0; i < MANY; i++) {
        tasks[i].job.run = count;
        ck_assert_int_eq(pool_submit(pool, &tasks[i].job), 0);
    }
    pool_destroy(pool);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(tasks[i].runs, 1);
    ck_assert_int_ge(births, 1);
    ck_assert_int_le(births, 4);
    ck_assert_int_eq(births, ends);
}
END_TEST

START_TEST(threads_come_with_the_work_and_no_more_than_allowed)
{
    static struct task tasks[5];
    struct pool_stats stats;
    struct pool *pool = pool_create(3, 10, NULL);
    ck_assert_int_eq(pool_start(pool), 0);
    pool_stats(pool, &stats);
    ck_assert_uint_eq(stats.threads, 1);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 5; i++) {
        tasks[i].job.run = wait_at_gate;
        ck_assert_int_eq(pool_submit(pool, &tasks[i].job), 0);
        await(&begun, i < 3 ? i + 1 : 3);
    }
    pool_stats(pool, &stats);
    ck_assert_uint_eq(stats.threads, 3);
    ck_assert_uint_eq(stats.running, 3);
    ck_assert_uint_eq(stats.waiting, 2);
    pthread_mutex_unlock(&gate);
    pool_destroy(pool);
}
END_TEST

START_TEST(a_full_queue_refuses_and_a_cancelled_job_never_runs)
{
    static struct task tasks[4];
    struct pool *pool = pool_create(1, 2, NULL);
    ck_assert_int_eq(pool_start(pool), 0);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 4; i++)
        tasks[i].job.run = wait_at_gate;
    ck_assert_int_eq(pool_submit(pool, &tasks[0].job), 0);
    await(&begun, 1);
    ck_assert_int_eq(pool_submit(pool, &tasks[1].job), 0);
    ck_assert_int_eq(pool_submit(pool, &tasks[2].job), 0);
    ck_assert_int_eq(pool_submit(pool, &tasks[3].job), -EAGAIN);
    ck_assert(pool_cancel(pool, &tasks[1].job));
    ck_assert(!pool_cancel(pool, &tasks[1].job));
    ck_assert(!pool_cancel(pool, &tasks[0].job));
    pthread_mutex_unlock(&gate);
    pool_destroy(pool);
    ck_assert_int_eq(tasks[0].runs, 1);
    ck_assert_int_eq(tasks[1].runs, 0);
    ck_assert_int_eq(tasks[2].runs, 1);
    ck_assert_int_eq(tasks[3].runs, 0);
}
END_TEST

static int second_birth_fails(void *user)
{
    (void)user;
    return atomic_fetch_add(&births, 1) == 0 ? 0 : -1;
}

static int birth_fails(void *user)
{
    (void)user;
    return -1;
}

START_TEST(threads_that_can_not_begin_leave_the_work_to_the_others)
{
    static struct task tasks[20];
    const struct pool_hooks first_only = {second_birth_fails, NULL, NULL}, none = {birth_fails, NULL, NULL};
    struct pool *pool = pool_create(4, 20, &first_only);
    ck_assert_int_eq(pool_start(pool), 0);
    for (int i = 0; i < 20; i++) {
        tasks[i].job.run = count;
        ck_assert_int_eq(pool_submit(pool, &tasks[i].job), 0);
    }
    pool_destroy(pool);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(tasks[i].runs, 1);
    pool = pool_create(4, 20, &none);
    ck_assert_int_eq(pool_start(pool), -ECANCELED);
    pool_destroy(pool);
}
END_TEST

SUITE_MAIN("pool", each_job_runs_once, threads_come_with_the_work_and_no_more_than_allowed,
           a_full_queue_refuses_and_a_cancelled_job_never_runs,
           threads_that_can_not_begin_leave_the_work_to_the_others)
