/* /api/counter: one number for all threads, that also survives reloads and crashes.
   GET reads it; POST adds ?by= (1 when absent, -1000 to 1000). */
#include <cloudgate.h>

static cg_counter *counter;

static int init(void)
{
    counter = cg_counter_open("demo/counter");
    return counter ? 0 : -1;
}

static void reply(cg_event *event, int64_t value)
{
    cg_set_header(event, "Cache-Control", "no-store");
    cg_reply(event, 200, "application/json", "{\"value\":%lld}\n", (long long)value);
}

static void show(cg_event *event)
{
    reply(event, cg_counter_get(counter));
}

static void add(cg_event *event)
{
    int64_t by = 1;
    const char *text = cg_param(event, "by");
    if (text != NULL && cg_parse_int(text, -1000, 1000, &by) != 0) {
        cg_reply(event, 400, "application/json", "{\"error\":\"by is a number from -1000 to 1000\"}\n");
        return;
    }
    reply(event, cg_counter_add(counter, by));
}

CG_MODULE(.init = init, .get = show, .post = add);
