#include "http/app.h"
#include "http/serve.h"
#include "parse/date.h"
#include "parse/etag.h"
#include "parse/path.h"

#include <string.h>

/* RFC 9110, section 13.2.2: If-None-Match, when there, switches If-Modified-Since off. */
static bool is_unchanged(const struct request *request, const struct static_file *file)
{
    int64_t since;
    const cg_field *field = request_field(request, "if-none-match");
    if (field != NULL)
        return etag_matches(field->value, file->etag);
    field = request_field(request, "if-modified-since");
    return field != NULL && date_parse(field->value, &since) == 0 && file->modified <= since;
}

static void respond_file(struct request *request, const struct static_file *file)
{
    struct response response = {
        .status = 200, .fields = file->fields, .field_count = file->field_count, .block = file->block};
    if (is_unchanged(request, file)) {
        response.status = 304;
        response.block = file->block_304;
    } else {
        response.body = file->data;
    }
    request_respond(request, &response);
}

/* Relative to the site, so that it holds behind any proxy; one slash at its front, so that it stays there. */
static void respond_directory(struct request *request)
{
    cg_str path = path_encode(&request->arena, request->path);
    cg_str query = request->raw_query;
    cg_field *field = arena_alloc(&request->arena, sizeof *field);
    field->name = cg_bytes("location", 8);
    field->value = arena_printf(&request->arena, "%s/%s%.*s", path.ptr, query.len > 0 ? "?" : "",
                                (int)query.len, query.ptr);
    struct response response = {.status = 308, .fields = field, .field_count = 1};
    request_respond(request, &response);
}

static void respond_not_found(struct request *request, const struct static_file *page)
{
    static const cg_field fields[] = {{{"content-type", 12}, {"text/html; charset=utf-8", 24}},
                                      {{"cache-control", 13}, {"max-age=30", 10}},
                                      {{"x-content-type-options", 22}, {"nosniff", 7}}};
    if (page == NULL) {
        request_fail(request, 404);
        return;
    }
    struct response response = {.status = 404, .fields = fields, .field_count = 3, .body = page->data};
    request_respond(request, &response);
}

void serve_static(struct request *request)
{
    const struct static_table *table = request->loop->app->files;
    const struct static_file *file;
    switch (static_table_find(table, request->path, &file)) {
    case STATIC_FILE:
        respond_file(request, file);
        break;
    case STATIC_DIRECTORY:
        respond_directory(request);
        break;
    case STATIC_NONE:
        respond_not_found(request, static_table_not_found(table));
        break;
    }
}
