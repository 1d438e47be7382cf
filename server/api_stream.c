/* What modules call to answer piece by piece, and to reach many clients at once. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "app/topics.h"
#include "base/log.h"
#include "http/call_stream.h"
#include "http/feed.h"
#include "parse/utf8.h"

#include <errno.h>
#include <string.h>

static const char *module_of(cg_event *event)
{
    return event_of(event)->action->module->file;
}

void cg_stream(cg_event *event)
{
    struct call *call = call_in(event, "cg_stream");
    int error = call ? call_stream(call) : 0;
    if (error != 0)
        log_error("%s: cg_stream: %s", module_of(event),
                  error == -EALREADY ? "the answer is a stream already" : "outside of the handler");
}

int64_t cg_flush(cg_event *event)
{
    struct call *call = call_in(event, "cg_flush");
    return call ? call_flush(call) : -EINVAL;
}

void cg_on_drain(cg_event *event, cg_handler *drain)
{
    struct call *call = call_in(event, "cg_on_drain");
    if (call != NULL)
        call_on_drain(call, drain);
}

void cg_on_close(cg_event *event, cg_handler *closed)
{
    struct call *call = call_in(event, "cg_on_close");
    if (call != NULL)
        call_on_close(call, closed);
}

int cg_subscribe_event(cg_event *event, const char *topic)
{
    struct call *call = call_in(event, "cg_subscribe");
    int error = call ? feed_subscribe(call, topic) : -EINVAL;
    if (error != 0)
        log_error("%s: cg_subscribe to '%s': %s", module_of(event), topic ? topic : "(NULL)",
                  strerror(-error));
    return error;
}

int cg_publish(const char *topic, const void *data, size_t len, cg_kind kind)
{
    if (data == NULL && len > 0)
        return -EINVAL;
    if (kind == CG_TEXT && !utf8_valid(data, len))
        return -EILSEQ;
    return topics_publish(context.topics, topic, data, len, kind);
}
