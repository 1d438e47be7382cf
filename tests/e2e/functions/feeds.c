/* GET /api/feeds?topics=a,b: what is published to these; POST /api/feeds?topic=a: publishes the body. */
#define _DEFAULT_SOURCE
#include <cloudgate.h>

static void follow(cg_event *event)
{
    char *rest = cg_strdup(event, cg_query(event, "topics")), *name;
    while ((name = strsep(&rest, ",")) != NULL)
        if (cg_subscribe(event, name) != 0)
            cg_reply(event, 500, "text/plain", "no %s\n", name);
}

static void publish(cg_event *event)
{
    int error = cg_publish(cg_query(event, "topic"), event->body.ptr, event->body.len, CG_TEXT);
    cg_status(event, error == 0 ? 202 : 500);
}

CG_MODULE(.get = follow, .post = publish);
