#include "base/str.h"
#include "http/files.h"
#include "http/negotiate.h"
#include "http/representation.h"
#include "http/serve.h"

#include "http/app.h"
#include "http/static_disk.h"
#include "parse/path.h"

#include <string.h>

/* ---- which form ---- */

/* The smallest of those that the client likes best. */
static const struct static_form *choose_form(const struct request *request, const struct static_file *file)
{
    const struct static_form *gzip = &file->forms[CODING_GZIP], *brotli = &file->forms[CODING_BROTLI];
    const struct static_form *plain = &file->forms[CODING_IDENTITY];
    if (gzip->block.len == 0 && brotli->block.len == 0)
        return plain;
    const struct accept_encoding accept = negotiate_encoding(request);
    bool takes_gzip = gzip->block.len > 0 && accept_prefers(&accept, accept.gzip);
    bool takes_brotli = brotli->block.len > 0 && accept_prefers(&accept, accept.brotli);
    if (takes_gzip && takes_brotli && accept.gzip == accept.brotli)
        return brotli->data.len <= gzip->data.len ? brotli : gzip;
    if (takes_brotli && (!takes_gzip || accept.brotli > accept.gzip))
        return brotli;
    return takes_gzip ? gzip : plain;
}

/* ---- answers ---- */

/* Answers that depend on Accept say so. */
static void add_vary(struct request *request, struct representation *representation)
{
    size_t count = representation->field_count;
    cg_field *fields = arena_alloc(&request->arena, (count + 1) * sizeof *fields);
    fields[0] = (cg_field){STR("vary"), STR("accept")};
    memcpy(fields + 1, representation->fields, count * sizeof *fields);
    representation->fields = fields;
    representation->field_count++;
    representation->field_count_304++;
    representation->block = representation->block_304 = STR("");
}

static void respond_file(struct request *request, const struct static_file *file, bool by_accept)
{
    struct representation representation = {.modified = file->modified, .type = file->type, .fd = -1};
    if (file->on_disk) {
        if (static_disk_open(request, file, &representation) != 0) {
            request_fail(request, 404);
            return;
        }
    } else {
        const struct static_form *form = choose_form(request, file);
        representation.etag = form->etag;
        representation.fields = form->fields;
        representation.field_count = form->field_count;
        representation.field_count_304 = form->field_count_304;
        representation.block = form->block;
        representation.block_304 = form->block_304;
        representation.data = form->data.ptr;
        representation.size = form->data.len;
    }
    if (by_accept)
        add_vary(request, &representation);
    representation_respond(request, &representation);
}

/* Relative to the site, so that it holds behind any proxy; one slash at its front, so that it stays there. */
static void respond_directory(struct request *request)
{
    cg_str path = path_encode(&request->arena, request->path);
    cg_str query = request->raw_query;
    cg_field *field = arena_alloc(&request->arena, sizeof *field);
    field->name = STR("location");
    field->value = arena_printf(&request->arena, "%s/%s%.*s", path.ptr, query.len > 0 ? "?" : "",
                                (int)query.len, query.ptr);
    struct response response = {.status = 308, .fields = field, .field_count = 1};
    request_respond(request, &response);
}

static void respond_not_found(struct request *request, const struct static_file *page, bool by_accept)
{
    static const cg_field fields[] = {{STR("content-type"), STR("text/html; charset=utf-8")},
                                      {STR("cache-control"), STR("max-age=30")},
                                      {STR("x-content-type-options"), STR("nosniff")},
                                      {STR("vary"), STR("accept")}};
    if (page == NULL || page->on_disk) {
        request_fail(request, 404);
        return;
    }
    struct response response = {.status = 404,
                                .fields = fields,
                                .field_count = by_accept ? 4 : 3,
                                .body = page->forms[CODING_IDENTITY].data};
    request_respond(request, &response);
}

/* ---- applications of one page ---- */

/* Where such an application makes pages of its own: names without an extension. */
static bool may_be_page(cg_str path)
{
    const char *slash = memrchr(path.ptr, '/', path.len);
    return slash == NULL || memchr(slash, '.', (size_t)(path.ptr + path.len - slash)) == NULL;
}

/* A browser that goes to a page says so; scripts that fetch data do not. */
static bool wants_html(const struct request *request)
{
    for (size_t i = 0; i < request->field_count; i++)
        if (strcmp(request->fields[i].name.ptr, "accept") == 0 &&
            (accept_weight(request->fields[i].value, "text/html") > 0 ||
             accept_weight(request->fields[i].value, "application/xhtml+xml") > 0))
            return true;
    return false;
}

static void serve_missing(struct request *request, const struct static_table *table)
{
    const struct static_file *index;
    bool by_accept = request->loop->app->settings->is_spa && may_be_page(request->path) &&
                     static_table_find(table, STR("/"), &index) == STATIC_FILE;
    if (by_accept && wants_html(request))
        respond_file(request, index, true);
    else
        respond_not_found(request, static_table_not_found(table), by_accept);
}

void serve_static(struct request *request)
{
    const struct static_file *file;
    request->files = files_pin(request->loop->files);
    const struct static_table *table = request->files->table;
    switch (static_table_find(table, request->path, &file)) {
    case STATIC_FILE:
        respond_file(request, file, false);
        break;
    case STATIC_DIRECTORY:
        respond_directory(request);
        break;
    case STATIC_NONE:
        serve_missing(request, table);
        break;
    }
}
