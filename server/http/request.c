#include "http/request.h"

#include "base/alloc.h"
#include "http/app.h"
#include "http/call.h"
#include "http/files.h"
#include "http/serve.h"
#include "parse/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_DISCARD_MAX (256 * 1024) /* read and dropped to keep a connection; more than that ends it */
#define HEALTH_PATH "/healthz"

/* The struct itself lives in its arena, so that a request costs one recycled chunk. */
struct request *request_create(struct loop *loop, struct transport *transport, const struct stream_ops *ops,
                               void *stream)
{
    struct arena arena;
    arena_init(&arena, &loop->arenas);
    struct request *request = arena_alloc(&arena, sizeof *request);
    memset(request, 0, offsetof(struct request, match));
    request->match.count = 0;
    request->match.route = NULL;
    request->loop = loop;
    request->ops = ops;
    request->transport = transport;
    request->stream = stream;
    request->arena = arena;
    return request;
}

void request_destroy(struct request *request)
{
    if (request == NULL)
        return;
    request->transport = NULL;
    request->stream = NULL;
    if (request->call != NULL) {
        if (!call_release(request->call))
            return;
        call_destroy(request->call);
    }
    source_finish(request->response.source);
    files_unpin(request->files);
    struct arena arena = request->arena;
    arena_finish(&arena);
}

const cg_field *request_field(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->field_count; i++)
        if (strcmp(request->fields[i].name.ptr, name) == 0)
            return &request->fields[i];
    return NULL;
}

/* ---- answers ---- */

void request_respond(struct request *request, const struct response *response)
{
    if (response != &request->response)
        request->response = *response;
    request->response.head = request->method == METHOD_HEAD;
    request->responded = true;
    request->ops->respond(request, &request->response);
}

void request_respond_text(struct request *request, int status, const char *type, cg_str text)
{
    cg_field *field = arena_alloc(&request->arena, sizeof *field);
    *field = (cg_field){cg_bytes("content-type", 12), cg_string(type)};
    struct response response = {.status = status, .fields = field, .field_count = 1, .body = text};
    request_respond(request, &response);
}

#define TEXT(literal) cg_bytes(literal, sizeof literal - 1)

cg_str request_error_text(int status)
{
    switch (status) {
    case 400:
        return TEXT("400 - Bad request\n");
    case 404:
        return TEXT("404 - Page not found\n");
    case 405:
        return TEXT("405 - Method not allowed\n");
    case 408:
        return TEXT("408 - The request took too long\n");
    case 412:
        return TEXT("412 - Precondition failed\n");
    case 413:
        return TEXT("413 - The request is too large\n");
    case 414:
        return TEXT("414 - The address is too long\n");
    case 416:
        return TEXT("416 - Range not satisfiable\n");
    case 417:
        return TEXT("417 - Expectation failed\n");
    case 431:
        return TEXT("431 - The header is too large\n");
    case 501:
        return TEXT("501 - Not implemented\n");
    case 504:
        return TEXT("504 - The function took too long\n");
    case 503:
        return TEXT("503 - Service unavailable\n");
    case 505:
        return TEXT("505 - HTTP version not supported\n");
    default:
        return TEXT("500 - Internal server error\n");
    }
}

void request_fail(struct request *request, int status)
{
    loop_count_refusal(request->loop, status);
    request_respond_text(request, status, "text/plain; charset=utf-8", request_error_text(status));
}

/* 405, or the answer to OPTIONS (RFC 9110, section 9.3.7): both say what would be allowed. */
static void respond_allow(struct request *request, int status, const char *allow)
{
    cg_field *fields = arena_alloc(&request->arena, 2 * sizeof *fields);
    fields[0] = (cg_field){cg_bytes("allow", 5), cg_string(allow)};
    fields[1] = (cg_field){cg_bytes("content-type", 12), cg_string("text/plain; charset=utf-8")};
    struct response response = {.status = status, .fields = fields, .field_count = status == 204 ? 1 : 2};
    if (status != 204)
        response.body = request_error_text(status);
    request_respond(request, &response);
}

static void respond_health(struct request *request)
{
    bool stopping = request->loop->draining;
    request_respond_text(request, stopping ? 503 : 200, "text/plain; charset=utf-8",
                         stopping ? TEXT("stopping\n") : TEXT("ok\n"));
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

/* What can be told from the head alone: the status of a refusal, or 0. Sets action when a function is to
 * answer. */
static int route(struct request *request)
{
    const struct app *app = request->loop->app;
    const struct static_file *file;
    request->body_limit = app->settings->body_limit;
    if (normalise(request) != 0)
        return 400;
    if (router_find(app->router, request->path, &request->match)) {
        request->action = request->match.route->actions[request->method];
        if (request->action == NULL)
            return 405;
        request->body_limit = request->action->body_limit;
        return request->action->unavailable != NULL ? 503 : 0;
    }
    request->match.route = NULL;
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
    else if (status != 0)
        request_fail(request, status);
    else if (request->action != NULL)
        serve_api_end(request);
    else
        serve_static(request);
}

static bool is(cg_str text, const char *other)
{
    return strcmp(text.ptr, other) == 0;
}

/* The server's own places, which no route can take. True when it has answered. */
static bool answer_own(struct request *request)
{
    if (request->raw_path.len == sizeof HEALTH_PATH - 1 &&
        memcmp(request->raw_path.ptr, HEALTH_PATH, sizeof HEALTH_PATH - 1) == 0 &&
        reads_only(request->method))
        respond_health(request);
    else if (is(request->target, "*"))
        respond_allow(request, 204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    else if (request->redirect)
        serve_redirect(request);
    return request->responded;
}

void request_begin(struct request *request, uint64_t length)
{
    request->loop->counts.requests++;
    request->method = method_of(request->method_text);
    if (answer_own(request))
        return;
    int status = route(request);
    bool known = length != REQUEST_BODY_UNKNOWN;
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

void request_body(struct request *request, const char *data, size_t len)
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

void request_end(struct request *request)
{
    answer(request, request->refusal);
}
