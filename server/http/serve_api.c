#include "app/context.h"
#include "app/event.h"
#include "base/log.h"
#include "base/str.h"
#include "http/app.h"
#include "http/call_stream.h"
#include "http/compress.h"
#include "http/serve.h"
#include "http/serve_websocket.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define OWN_HEAD_BYTES 512 /* of the fields that the server adds to a function's */
#define JSON_TYPE "application/json; charset=utf-8"

/* ---- what a route asks for ---- */

static bool key_is_wrong(struct event *event)
{
    cg_str key = context.settings->api_key, given = cg_string(event_header(event, "x-api-key"));
    if (given.ptr == NULL)
        given = event_param(event, "apiKey");
    return given.ptr == NULL || given.len != key.len || sodium_memcmp(given.ptr, key.ptr, key.len) != 0;
}

static void refuse_key(struct event *event)
{
    static const char text[] =
        "{\"status\":\"KO\",\"code\":\"BAD_API_KEY\",\"details\":\"Wrong or no apiKey received.\"}";
    answer_begin(&event->answer, 403, JSON_TYPE);
    answer_write(&event->answer, text, sizeof text - 1);
}

/* false: one is missing, and the 400 names all that are. */
static bool has_parameters(struct event *event)
{
    const struct action *action = event->action;
    json_t *missing = NULL;
    for (size_t i = 0; i < action->parameter_count; i++) {
        if (event_param(event, action->parameters[i].ptr).ptr != NULL)
            continue;
        if (missing == NULL)
            missing = json_array();
        json_array_append_new(missing, json_stringn(action->parameters[i].ptr, action->parameters[i].len));
    }
    if (missing == NULL)
        return true;
    json_t *body =
        json_pack("{s:s, s:s, s:o}", "status", "KO", "code", "MissingMandatoryParams", "list", missing);
    char *text = json_dumps(body, JSON_COMPACT);
    answer_begin(&event->answer, 400, JSON_TYPE);
    answer_write(&event->answer, text, strlen(text));
    free(text);
    json_decref(body);
    return false;
}

/* ---- the answer ---- */

static void log_fault(const struct event *event)
{
    log_error("%s: %s %s: %s; answered 500 (request %s)", event->action->module->name,
              event->public.method.ptr, event->public.path.ptr, event->answer.fault, event->public.id.ptr);
}

/* Nothing that the function set survives its own mistake. */
static void replace_by_500(struct event *event)
{
    log_fault(event);
    answer_finish(&event->answer);
    answer_text(&event->answer, 500, "500 - Internal server error");
}

static void check_size(struct event *event)
{
    struct response probe = {.fields = event->answer.fields, .field_count = event->answer.field_count};
    if (response_head_size(&probe) > RESPONSE_HEAD_LIMIT - OWN_HEAD_BYTES)
        answer_fault(&event->answer, "the headers are longer than %d bytes", RESPONSE_HEAD_LIMIT);
}

static bool is_streamed(const struct event *event)
{
    return call_body(call_of(&event->public)) != NULL;
}

static void complete(struct event *event)
{
    struct answer *answer = &event->answer;
    check_size(event);
    if (answer->fault != NULL)
        replace_by_500(event);
    answer->given = true;
    if ((answer->body_len > 0 || is_streamed(event)) && answer_field(answer, "content-type") == NULL)
        answer_set_field(answer, "content-type", "text/plain; charset=utf-8");
    answer_set_field(answer, "x-request-id", event->public.id.ptr);
    if (context.settings->server_timing)
        answer_add_field(
            answer, "server-timing",
            arena_printf(event->arena, "app;dur=%.3f", call_age_ms(call_of(&event->public))).ptr);
}

static void respond_whole(struct request *request, struct event *event)
{
    struct answer *answer = &event->answer;
    complete(event);
    int status = answer->status ? answer->status : answer->body_len > 0 ? 200 : 204;
    cg_str body = response_has_body(status) && status != 205 ? compress_answer(request, status) : STR("");
    struct response response = {
        .status = status,
        .fields = answer->fields,
        .field_count = answer->field_count,
        .body = body,
    };
    request_respond(request, &response);
}

/* The head was completed by the thread that streams, which may be writing the body by now. */
static void respond_streamed(struct request *request, struct event *event)
{
    const struct answer *answer = &event->answer;
    struct response response = {
        .status = answer->status ? answer->status : 200,
        .fields = answer->fields,
        .field_count = answer->field_count,
        .stream = call_body(request->call),
    };
    request_respond(request, &response);
}

static void respond(struct request *request, struct event *event)
{
    if (is_streamed(event)) {
        respond_streamed(request, event);
        return;
    }
    event_release_locks(event);
    if (event->accepted) {
        complete(event);
        serve_websocket_accept(request, event);
    } else {
        respond_whole(request, event);
    }
}

static const struct call_ops call_ops = {.complete = complete, .respond = respond};

/* The server's own words for a body that it would not take. */
static const char *refusal_text(int status)
{
    switch (status) {
    case 400:
        return "400 - The body can't be read";
    case 413:
        return "413 - The body is too large";
    case 415:
        return "415 - Unsupported media type";
    case 503:
        return "503 - Service unavailable";
    case 507:
        return "507 - There is no room for the body";
    default:
        return "The body was refused";
    }
}

static void refuse(struct request *request, int status)
{
    struct event *event = &request->call->event;
    loop_count_refusal(request->loop, status);
    if (request->call->body.error != 0)
        log_error("%s: %s: the body can't be kept: %s", event->action->module->name, event->public.path.ptr,
                  strerror(-request->call->body.error));
    if (event->answer.fault == NULL)
        answer_text(&event->answer, status, "%s", refusal_text(status));
    respond(request, event);
}

/* ---- the call ---- */

/* True: a private route's key or a parameter is missing, and the answer says so. */
static bool is_refused(struct event *event)
{
    if (event->action->is_private && key_is_wrong(event)) {
        refuse_key(event);
        return true;
    }
    return !has_parameters(event);
}

/* A streamed body reaches its function before anything else could be known of it, so what the route asks for
   must be in the head. */
void serve_api_begin(struct request *request)
{
    struct event *event = &call_create(request)->event;
    int error = event_parse(event, &request->match);
    if (error == 0)
        error = body_begin(&request->call->body, event);
    if (error != 0)
        refuse(request, -error);
    else if (request->call->body.kind == BODY_STREAMED && is_refused(event))
        respond(request, event);
}

void serve_api_body(struct request *request, const char *data, size_t len)
{
    struct event *event = &request->call->event;
    int error = body_take(&request->call->body, event, data, len);
    if (error != 0)
        refuse(request, -error);
}

static void start(struct call *call)
{
    if (call->event.action->socket != NULL)
        serve_websocket_begin(call);
    call_start(call, &call_ops);
}

void serve_api_end(struct request *request)
{
    struct event *event = &request->call->event;
    int error = body_end(&request->call->body, event);
    if (error != 0) {
        refuse(request, -error);
        return;
    }
    if (request->call->body.kind != BODY_STREAMED && is_refused(event))
        respond(request, event);
    else
        start(request->call);
}
