/* POST -> counts itself; GET -> how often that was. */
#include <cloudgate.h>

static cg_counter *calls;

static int init(void)
{
    calls = cg_counter_open("tests/calls");
    return calls ? 0 : -1;
}

static void count(cg_event *event)
{
    cg_reply(event, 200, "text/plain", "%lld", (long long)cg_counter_add(calls, 1));
}

static void show(cg_event *event)
{
    cg_reply(event, 200, "text/plain", "%lld", (long long)cg_counter_get(calls));
}

CG_MODULE(.init = init, .post = count, .get = show);
