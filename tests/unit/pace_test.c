#include "base/pace.h"
#include "suite.h"

#define TIMEOUT 10000
#define RATE 1000
#define GRACE 10000

static struct pace pace;

static void setup(void)
{
    pace_begin(&pace, 0, TIMEOUT, RATE, GRACE);
}

/* When a peer is too slow that brings so many bytes now and after each interval; at most `end`. */
static int64_t fails_at(int64_t interval, uint64_t bytes, int64_t end)
{
    for (int64_t now = 0; now < end; now += interval) {
        if (pace_deadline(&pace) < now)
            return pace_deadline(&pace);
        pace_take(&pace, now, bytes);
    }
    return end;
}

START_TEST(silence_from_the_start)
{
    setup();
    ck_assert_int_eq(pace_deadline(&pace), TIMEOUT);
    pace_begin(&pace, 7, 300, RATE, GRACE);
    ck_assert_int_eq(pace_deadline(&pace), 307);
}
END_TEST

START_TEST(silence_after_much)
{
    setup();
    pace_take(&pace, 3000, 1 << 30);
    ck_assert_int_eq(pace_deadline(&pace), 3000 + TIMEOUT);
    pace_take(&pace, 4000, 0);
    ck_assert_int_eq(pace_deadline(&pace), 3000 + TIMEOUT);
}
END_TEST

START_TEST(a_trickle_lives_for_the_grace)
{
    setup();
    ck_assert_int_eq(fails_at(500, 1, 1000000), GRACE);
}
END_TEST

START_TEST(the_rate_is_enough)
{
    setup();
    ck_assert_int_eq(fails_at(500, 500, 1000000), 1000000);
    setup();
    ck_assert_int_eq(fails_at(1, 1, 1000000), 1000000);
    setup();
    ck_assert_int_eq(fails_at(9000, 9001, 1000000), 1000000);
}
END_TEST

START_TEST(less_than_the_rate_is_not)
{
    setup();
    ck_assert_int_eq(fails_at(1000, 900, 1000000), GRACE);
}
END_TEST

/* No division may lose what is left over. */
START_TEST(rests_add_up)
{
    pace_begin(&pace, 0, TIMEOUT, 3, GRACE);
    ck_assert_int_eq(fails_at(2000, 6, 10000000), 10000000);
    pace_begin(&pace, 0, TIMEOUT, 7000, GRACE);
    ck_assert_int_eq(fails_at(1, 7, 1000000), 1000000);
    pace_begin(&pace, 0, TIMEOUT, 7000, GRACE);
    ck_assert_int_lt(fails_at(1, 6, 1000000), GRACE + 2);
}
END_TEST

START_TEST(a_fast_start_does_not_pay_for_hours)
{
    setup();
    pace_take(&pace, 1000, UINT64_MAX);
    ck_assert_int_le(fails_at(500, 1, 10000000), 1000 + PACE_CREDIT_MS + 1000);
}
END_TEST

START_TEST(without_a_rate_any_byte_will_do)
{
    pace_begin(&pace, 0, TIMEOUT, 0, GRACE);
    ck_assert_int_eq(fails_at(9999, 1, 10000000), 10000000);
    pace_begin(&pace, 0, TIMEOUT, 0, GRACE);
    ck_assert_int_eq(fails_at(TIMEOUT + 1, 1, 10000000), TIMEOUT);
}
END_TEST

START_TEST(credit_is_bounded_however_often_it_comes)
{
    pace_begin(&pace, 0, 10 * PACE_CREDIT_MS, RATE, 0);
    for (int i = 0; i < 5; i++)
        pace_take(&pace, 1000, 1 << 30);
    ck_assert_int_eq(pace_deadline(&pace), 1000 + PACE_CREDIT_MS);
}
END_TEST

SUITE_MAIN("pace", silence_from_the_start, silence_after_much, a_trickle_lives_for_the_grace,
           the_rate_is_enough, less_than_the_rate_is_not, rests_add_up, a_fast_start_does_not_pay_for_hours,
           without_a_rate_any_byte_will_do, credit_is_bounded_however_often_it_comes)
