/* POST -> counts the bytes of a body of any size while it arrives. */
#include <cloudgate.h>

static int take(cg_event *event, const char *data, size_t len)
{
    size_t *sum = event->data ? event->data : (event->data = cg_alloc(event, sizeof *sum));
    (void)data;
    *sum += len;
    return 0;
}

static void tell(cg_event *event)
{
    const size_t *sum = event->data;
    cg_reply(event, 200, "text/plain", "%zu", sum ? *sum : 0);
}

CG_MODULE(.body = take, .post = tell);
