/* What modules call to have something done later, or on another loop. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "http/alarms.h"
#include "http/loop.h"

#include <errno.h>

#define LONGEST_MS (INT64_C(366) * 24 * 3600 * 1000)

static int64_t set(int64_t ms, int again, void (*ring)(void *arg), void *arg)
{
    struct loop *loop = loop_current();
    if (ring == NULL || ms < again || ms > LONGEST_MS)
        return -EINVAL;
    return loop == NULL ? -ENOTSUP : alarm_set(loop, ms, again, ring, arg);
}

int64_t cg_after(int64_t ms, void (*ring)(void *arg), void *arg)
{
    return set(ms, 0, ring, arg);
}

int64_t cg_every(int64_t ms, void (*ring)(void *arg), void *arg)
{
    return set(ms, 1, ring, arg);
}

int cg_cancel(int64_t timer)
{
    struct loop *loop = loop_current();
    return loop == NULL ? -ENOTSUP : alarm_cancel(loop, timer);
}

int cg_loop(void)
{
    const struct loop *loop = loop_current();
    return loop == NULL ? -1 : (int)loop->index;
}

int cg_loops(void)
{
    return context.settings->threads;
}

int cg_post(int loop, void (*run)(void *arg), void *arg)
{
    if (loop < 0 || loop >= cg_loops() || run == NULL)
        return -EINVAL;
    if (context.loops == NULL)
        return -ENOTSUP;
    alarm_post(context.loops[loop], run, arg);
    return 0;
}
