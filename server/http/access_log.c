#include "http/access_log.h"

#include "app/access_line.h"
#include "app/access_writer.h"
#include "base/clock.h"
#include "http/app.h"
#include "http/call.h"
#include "parse/field.h"

#define LEFT 499 /* no status: the client did not wait for one */

void access_log_flush(struct loop *loop)
{
    timers_cancel(&loop->timers, &loop->access_timer);
    if (loop->access.len > 0)
        access_writer_put(loop->app->access, &loop->access);
}

static void on_timer(struct timer *timer)
{
    access_log_flush(list_item(timer, struct loop, access_timer));
}

static void add(struct loop *loop, const struct access_entry *entry)
{
    access_line(&loop->access, (enum access_format)loop->app->settings->access_log_format, entry);
    loop->access_timer.fire = on_timer;
    if (loop->access.len >= ACCESS_LOG_PIECE)
        access_log_flush(loop);
    else if (loop->access_timer.place == 0)
        timers_set(&loop->timers, &loop->access_timer, loop->now + ACCESS_LOG_MS);
}

static cg_str field_of(const struct request *request, const char *name)
{
    const cg_field *field = fields_first(&(cg_fields){request->fields, request->field_count}, name);
    return field ? field->value : cg_bytes(NULL, 0);
}

static int64_t bytes_of(const struct request *request)
{
    const struct response *response = &request->response;
    if (response->stream != NULL)
        return -1;
    return response->head || !response_has_body(response->status) ? 0 : (int64_t)response_length(response);
}

void access_log_note(struct request *request)
{
    static const char *const versions[] = {
        [HTTP_1_0] = "HTTP/1.0", [HTTP_1_1] = "HTTP/1.1", [HTTP_2] = "HTTP/2.0"};
    struct loop *loop = request->loop;
    const cg_event *event = request->call ? &request->call->event.public : NULL;
    if (request->method_text.ptr == NULL)
        return; /* it was refused before it was one */
    add(loop, &(struct access_entry){
                  .time = wall_ms(),
                  .ip = event ? event->ip : cg_string(request->transport->ip),
                  .method = request->method_text,
                  .target = request->target,
                  .version = versions[request->version],
                  .status = request->responded ? request->response.status : LEFT,
                  .bytes = request->responded ? bytes_of(request) : 0,
                  .ms = loop->now - request->began,
                  .host = request->host,
                  .referer = field_of(request, "referer"),
                  .agent = field_of(request, "user-agent"),
                  .id = event ? event->id : cg_bytes(NULL, 0),
              });
}

void access_log_note_refusal(struct transport *transport, int status)
{
    if (transport->loop->app->access != NULL)
        add(transport->loop, &(struct access_entry){.time = wall_ms(),
                                                    .ip = cg_string(transport->ip),
                                                    .version = "-",
                                                    .status = status,
                                                    .bytes = -1});
}
