#include "http/dispatch.h"

#include "base/str.h"
#include "http/app.h"
#include "http/files.h"
#include "http/serve.h"
#include "http/serve_websocket.h"
#include "parse/path.h"

#define BODY_DISCARD_MAX (256 * 1024) /* read and dropped to keep a connection; more than that ends it */
#define HEALTH_PATH "/healthz"

/* 405, or the answer to OPTIONS (RFC 9110, section 9.3.7): both say what would be allowed. */
static void respond_allow(struct request *request, int status, const char *allow)
{
    cg_field *fields = arena_alloc(&request->arena, 2 * sizeof *fields);
    fields[0] = (cg_field){STR("allow"), cg_string(allow)};
    fields[1] = (cg_field){STR("content-type"), STR("text/plain; charset=utf-8")};
    struct response response = {.status = status, .fields = fields, .field_count = status == 204 ? 1 : 2};
    if (status != 204)
        response.body = request_error_text(status);
    request_respond(request, &response);
}

static void respond_health(struct request *request)
{
    bool stopping = request->loop->stopping;
    request_respond_text(request, stopping ? 503 : 200, "text/plain; charset=utf-8",
                         stopping ? STR("stopping\n") : STR("ok\n"));
}

/* ---- routing ---- */

static bool reads_only(enum method method)
{
    return method == METHOD_GET || method == METHOD_HEAD;
}

static int normalise(struct request *request)
{
    size_t len;
    char *path = arena_alloc(&request->arena, request->raw_path.len + 1);
    int error = path_normalise(request->raw_path.ptr, request->raw_path.len, path, &len);
    if (error == 0)
        request->path = cg_bytes(path, len);
    return error;
}

static int route_to_socket(struct request *request, bool has_body)
{
    const struct action *action = request->match.route->socket;
    request->action = action;
    if (action->unavailable != NULL)
        return 503;
    return websocket_check(request, action->socket, has_body);
}

static int route_to_function(struct request *request, bool has_body)
{
    const struct route *route = request->match.route;
    if (route->socket != NULL && websocket_is_asked(request))
        return route_to_socket(request, has_body);
    request->action = request->connect ? NULL : route->actions[request->method];
    if (request->action == NULL)
        return route->socket != NULL && request->method == METHOD_GET && !request->connect ? 426 : 405;
    request->body_limit = request->action->body_limit;
    return request->action->unavailable != NULL ? 503 : 0;
}

/* What can be told from the head alone: the status of a refusal, or 0. Sets action when a function is to
   answer. */
static int route(struct request *request, bool has_body)
{
    const struct app *app = request->loop->app;
    const struct static_file *file;
    request->body_limit = app->settings->body_limit;
    if (normalise(request) != 0)
        return 400;
    if (router_find(app->router, request->path, &request->match))
        return route_to_function(request, has_body);
    request->match.route = NULL;
    if (request->connect)
        return 404;
    if (reads_only(request->method))
        return 0;
    return static_table_find(request->loop->files->table, request->path, &file) == STATIC_NONE ? 404 : 405;
}

/* Runs once the body is complete or not wanted. */
static void answer(struct request *request, int status)
{
    const struct route *route = request->match.route;
    if (status == 405 && request->method == METHOD_OPTIONS)
        respond_allow(request, 204, route ? route->allow : "GET, HEAD, OPTIONS");
    else if (status == 405)
        respond_allow(request, 405, route ? route->allow : "GET, HEAD, OPTIONS");
    else if (status == 426)
        serve_websocket_wanted(request);
    else if (status != 0)
        request_fail(request, status);
    else if (request->action != NULL)
        serve_api_end(request);
    else
        serve_static(request);
}

/* The server's own places, which no route can take. True when it has answered. */
static bool answer_own(struct request *request)
{
    if (str_is(request->raw_path, HEALTH_PATH) && reads_only(request->method))
        respond_health(request);
    else if (str_is(request->target, "*"))
        respond_allow(request, 204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    else if (request->redirect)
        serve_redirect(request);
    return request->responded;
}

void dispatch_begin(struct request *request, uint64_t length)
{
    request->loop->counts.requests++;
    request->method = method_of(request->method_text);
    if (answer_own(request))
        return;
    bool known = length != LENGTH_UNKNOWN;
    int status = route(request, length != 0);
    if (known && length > request->body_limit)
        status = 413;
    request->refusal = status;
    request->discard = status != 0 || request->action == NULL;
    if (request->discard &&
        (request->expects_continue || status == 413 || (known && length > BODY_DISCARD_MAX)))
        answer(request, status);
    else if (!request->discard)
        serve_api_begin(request);
}

void dispatch_body(struct request *request, const char *data, size_t len)
{
    if (request->responded)
        return;
    request->received += len;
    if (request->discard) {
        if (request->received > BODY_DISCARD_MAX)
            answer(request, request->refusal);
    } else if (request->received > request->body_limit) {
        request_fail(request, 413);
    } else {
        serve_api_body(request, data, len);
    }
}

void dispatch_end(struct request *request)
{
    answer(request, request->refusal);
}
