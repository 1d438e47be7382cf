/* GET /api/tests/simple: the smallest function there is. */
#include <cloudgate.h>

static void hello(cg_event *event)
{
    cg_reply(event, 200, "text/html", "Hello World! %lld", (long long)cg_now_ms());
}

CG_MODULE(.get = hello);
