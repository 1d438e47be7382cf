/* ANY -> its route, and how many bytes its body has: what of a connection's bytes was run as a request. */
#include <cloudgate.h>

static void probe(cg_event *event)
{
    cg_reply(event, 200, "text/plain", "%s ran %zu", event->route.ptr, event->body.len);
}

CG_MODULE(.handle = probe);
