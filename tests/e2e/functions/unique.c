/* GET ?n=100 -> the results of that many adds to one counter and one key, "COUNTER KEY" a line. */
#include <cloudgate.h>

static cg_counter *counter;

static int init(void)
{
    counter = cg_counter_open("tests/unique");
    return counter ? 0 : -1;
}

static void unique(cg_event *event)
{
    int64_t n = 1, sum = 0;
    if (cg_query(event, "n") && cg_parse_int(cg_query(event, "n"), 1, 100000, &n) != 0) {
        cg_reply(event, 400, "text/plain", "n is no number from 1 to 100000\n");
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int error = cg_shm_incr("tests", "unique", 1, 0, &sum);
        cg_print(event, "%lld %lld\n", (long long)cg_counter_add(counter, 1), (long long)(error ? -1 : sum));
    }
}

CG_MODULE(.init = init, .get = unique);
