#include "base/pace.h"

void pace_begin(struct pace *pace, int64_t now, int64_t timeout, int64_t rate, int64_t grace)
{
    *pace =
        (struct pace){.timeout = timeout, .rate = rate, .last = now, .grace_end = now + grace, .paid = now};
}

void pace_take(struct pace *pace, int64_t now, uint64_t bytes)
{
    if (bytes == 0)
        return;
    pace->last = now;
    if (pace->rate == 0)
        return;
    uint64_t most = (uint64_t)pace->rate * (PACE_CREDIT_MS / 1000);
    int64_t thousandths = (int64_t)(bytes < most ? bytes : most) * 1000 + pace->rest;
    pace->paid += thousandths / pace->rate;
    pace->rest = thousandths % pace->rate;
    if (pace->paid > now + PACE_CREDIT_MS)
        pace->paid = now + PACE_CREDIT_MS;
}

int64_t pace_deadline(const struct pace *pace)
{
    int64_t silent = pace->last + pace->timeout;
    int64_t slow = pace->paid > pace->grace_end ? pace->paid : pace->grace_end;
    return pace->rate != 0 && slow < silent ? slow : silent;
}
