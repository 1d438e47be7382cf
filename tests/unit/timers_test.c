#include "base/timers.h"
#include "suite.h"

#define MANY 500

struct waiter {
    struct timer timer;
    int64_t fired_at; /* -1: not yet */
};

static struct timers timers;
static int64_t now;
static int fired;

static void fire(struct timer *timer)
{
    struct waiter *waiter = (struct waiter *)timer;
    ck_assert_int_le(timer->deadline, now);
    waiter->fired_at = now;
    fired++;
}

static void run_until(int64_t end)
{
    for (; now <= end; now++)
        timers_run(&timers, now);
}

/* Deadlines set, moved both ways and cancelled at random: each fires once, at its last deadline, and in no
 * other tick. */
START_TEST(each_fires_at_its_last_deadline)
{
    static struct waiter waiters[MANY];
    srand(1);
    for (int i = 0; i < MANY; i++) {
        waiters[i] = (struct waiter){.timer.fire = fire, .fired_at = -1};
        for (int k = 0; k < 5; k++) {
            timers_set(&timers, &waiters[i].timer, 1 + rand() % 1000);
            timers_run(&timers, 0);
        }
        if (i % 5 == 0)
            timers_cancel(&timers, &waiters[i].timer);
    }
    run_until(1001);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(waiters[i].fired_at, i % 5 == 0 ? -1 : waiters[i].timer.deadline);
    ck_assert_int_eq(fired, MANY - MANY / 5);
    ck_assert_int_eq(timers_wait(&timers, now), -1);
    timers_finish(&timers);
}
END_TEST

static void again(struct timer *timer)
{
    fired++;
    if (fired < 3)
        timers_set(&timers, timer, now + 10);
}

START_TEST(a_timer_may_arm_itself_again)
{
    struct timer timer = {.fire = again};
    timers_set(&timers, &timer, 10);
    run_until(100);
    ck_assert_int_eq(fired, 3);
    timers_cancel(&timers, &timer);
    timers_finish(&timers);
}
END_TEST

START_TEST(the_wait_ends_when_the_next_one_may_be_due)
{
    struct timer one = {.fire = fire}, two = {.fire = fire};
    ck_assert_int_eq(timers_wait(&timers, 0), -1);
    timers_set(&timers, &one, 100);
    timers_set(&timers, &two, 50);
    ck_assert_int_eq(timers_wait(&timers, 20), 30);
    ck_assert_int_eq(timers_wait(&timers, 80), 0);
    timers_cancel(&timers, &two);
    ck_assert_int_eq(timers_wait(&timers, 20), 80);
    timers_cancel(&timers, &one);
    timers_finish(&timers);
}
END_TEST

static void at_once(struct timer *timer)
{
    fired++;
    timers_set(&timers, timer, now);
}

START_TEST(one_that_is_always_due_does_not_hold_up_the_others)
{
    struct timer eager = {.fire = at_once};
    struct waiter waiter = {.timer.fire = fire, .fired_at = -1};
    timers_set(&timers, &eager, 0);
    timers_set(&timers, &waiter.timer, 0);
    timers_run(&timers, 0);
    timers_run(&timers, 0);
    ck_assert_int_eq(waiter.fired_at, 0);
    ck_assert_int_ge(fired, 2);
    ck_assert_int_eq(timers_wait(&timers, 0), 0);
    timers_cancel(&timers, &eager);
    timers_finish(&timers);
}
END_TEST

SUITE_MAIN("timers", each_fires_at_its_last_deadline, a_timer_may_arm_itself_again,
           the_wait_ends_when_the_next_one_may_be_due, one_that_is_always_due_does_not_hold_up_the_others)
