/* Time. Deadlines are on the monotonic clock, which no operator can turn back. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline int64_t monotonic_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

static inline int64_t wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

#endif
