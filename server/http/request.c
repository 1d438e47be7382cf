#include "http/request.h"

#include "base/str.h"
#include "http/access_log.h"
#include "http/app.h"
#include "http/files.h"

#include <string.h>

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
    request->began = loop->now;
    request->stream = stream;
    request->arena = arena;
    return request;
}

void request_destroy(struct request *request)
{
    if (request == NULL)
        return;
    if (request->transport != NULL && request->loop->app->access != NULL)
        access_log_note(request);
    request->transport = NULL;
    request->stream = NULL;
    if (request->release != NULL && !request->release(request))
        return;
    source_finish(request->response.source);
    files_unpin(request->files);
    struct arena arena = request->arena;
    arena_finish(&arena);
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
    *field = (cg_field){STR("content-type"), cg_string(type)};
    struct response response = {.status = status, .fields = field, .field_count = 1, .body = text};
    request_respond(request, &response);
}

cg_str request_error_text(int status)
{
    switch (status) {
    case 400:
        return STR("400 - Bad request\n");
    case 403:
        return STR("403 - Forbidden\n");
    case 404:
        return STR("404 - Page not found\n");
    case 405:
        return STR("405 - Method not allowed\n");
    case 408:
        return STR("408 - The request took too long\n");
    case 412:
        return STR("412 - Precondition failed\n");
    case 413:
        return STR("413 - The request is too large\n");
    case 414:
        return STR("414 - The address is too long\n");
    case 416:
        return STR("416 - Range not satisfiable\n");
    case 417:
        return STR("417 - Expectation failed\n");
    case 431:
        return STR("431 - The header is too large\n");
    case 501:
        return STR("501 - Not implemented\n");
    case 504:
        return STR("504 - The function took too long\n");
    case 503:
        return STR("503 - Service unavailable\n");
    case 505:
        return STR("505 - HTTP version not supported\n");
    default:
        return STR("500 - Internal server error\n");
    }
}

void request_fail(struct request *request, int status)
{
    loop_count_refusal(request->loop, status);
    request_respond_text(request, status, "text/plain; charset=utf-8", request_error_text(status));
}
