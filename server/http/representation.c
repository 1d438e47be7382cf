#include "http/representation.h"

#include "base/str.h"
#include "http/conditions.h"
#include "parse/range.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#define BOUNDARY_SIZE 33 /* 32 hex digits and a NUL: no content holds them but by a wonder */

/* ---- the body ---- */

static struct source *make_source(struct request *request, const struct representation *representation,
                                  size_t pieces)
{
    return source_create(&request->arena, pieces, representation->fd, representation->stat);
}

static void add_range(struct source *source, const struct representation *representation,
                      const struct range *range)
{
    uint64_t len = range->last - range->first + 1;
    if (representation->data != NULL)
        source_add(source, representation->data + range->first, len);
    else
        source_add_file(source, range->first, len);
}

static void set_range(struct request *request, const struct representation *representation,
                      const struct range *range, struct response *response)
{
    if (representation->data != NULL) {
        response->body =
            cg_bytes(representation->data + range->first, (size_t)(range->last - range->first + 1));
        return;
    }
    struct source *source = make_source(request, representation, 1);
    add_range(source, representation, range);
    response->source = source;
}

/* ---- 206 ---- */

static cg_str content_range(struct request *request, const struct representation *representation,
                            const struct range *range)
{
    return arena_printf(&request->arena, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range->first, range->last,
                        representation->size);
}

/* Those of the 200, with one in the place of another or at the end. */
static void set_fields(struct request *request, const struct representation *representation, const char *name,
                       cg_str value, struct response *response)
{
    size_t count = representation->field_count, at = 0;
    cg_field *fields = arena_alloc(&request->arena, (count + 1) * sizeof *fields);
    memcpy(fields, representation->fields, count * sizeof *fields);
    while (at < count && strcmp(fields[at].name.ptr, name) != 0)
        at++;
    fields[at] = (cg_field){cg_string(name), value};
    response->fields = fields;
    response->field_count = at < count ? count : count + 1;
}

static void respond_part(struct request *request, const struct representation *representation,
                         const struct range *range)
{
    struct response response = {.status = 206};
    set_fields(request, representation, "content-range", content_range(request, representation, range),
               &response);
    set_range(request, representation, range, &response);
    request_respond(request, &response);
}

static void add_text(struct source *source, cg_str text)
{
    source_add(source, text.ptr, text.len);
}

/* RFC 9110, section 14.6. */
static void respond_parts(struct request *request, const struct representation *representation,
                          const struct range *ranges, size_t count)
{
    struct arena *arena = &request->arena;
    unsigned char random[BOUNDARY_SIZE / 2];
    char boundary[BOUNDARY_SIZE];
    struct source *source = make_source(request, representation, 2 * count + 1);
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(boundary, sizeof boundary, random, sizeof random);
    for (size_t i = 0; i < count; i++) {
        cg_str range = content_range(request, representation, &ranges[i]);
        add_text(source, arena_printf(arena, "%s--%s\r\ncontent-type: %s\r\ncontent-range: %s\r\n\r\n",
                                      i > 0 ? "\r\n" : "", boundary, representation->type, range.ptr));
        add_range(source, representation, &ranges[i]);
    }
    add_text(source, arena_printf(arena, "\r\n--%s--\r\n", boundary));
    struct response response = {.status = 206, .source = source};
    set_fields(request, representation, "content-type",
               arena_printf(arena, "multipart/byteranges; boundary=%s", boundary), &response);
    request_respond(request, &response);
}

/* ---- without content ---- */

static void close_file(const struct representation *representation)
{
    if (representation->fd >= 0)
        close(representation->fd);
}

static void respond_unsatisfiable(struct request *request, const struct representation *representation)
{
    cg_field *fields = arena_alloc(&request->arena, 2 * sizeof *fields);
    fields[0] = (cg_field){STR("content-range"),
                           arena_printf(&request->arena, "bytes */%" PRIu64, representation->size)};
    fields[1] = (cg_field){STR("content-type"), STR("text/plain; charset=utf-8")};
    struct response response = {
        .status = 416, .fields = fields, .field_count = 2, .body = request_error_text(416)};
    close_file(representation);
    request_respond(request, &response);
}

static void respond_unchanged(struct request *request, const struct representation *representation)
{
    struct response response = {.status = 304,
                                .fields = representation->fields,
                                .field_count = representation->field_count_304,
                                .block = representation->block_304};
    close_file(representation);
    request_respond(request, &response);
}

/* ---- */

static void respond_whole(struct request *request, const struct representation *representation)
{
    struct response response = {.status = 200,
                                .fields = representation->fields,
                                .field_count = representation->field_count,
                                .block = representation->block};
    if (representation->data != NULL) {
        response.body = cg_bytes(representation->data, (size_t)representation->size);
    } else {
        struct source *source = make_source(request, representation, 1);
        source_add_file(source, 0, representation->size);
        response.source = source;
    }
    request_respond(request, &response);
}

/* Ranges are defined for GET alone (RFC 9110, section 14.2). */
static int find_ranges(const struct request *request, const struct representation *representation,
                       const struct conditions *conditions, struct range *ret_ranges)
{
    if (request->method != METHOD_GET)
        return -1;
    const cg_field *field =
        conditions_range(conditions, representation->etag, representation->modified, request->loop->second);
    return field ? range_parse(field->value, representation->size, ret_ranges) : -1;
}

void representation_respond(struct request *request, const struct representation *representation)
{
    struct conditions conditions;
    struct range ranges[RANGE_MAX];
    conditions_read(&conditions, request, representation->etag);
    switch (conditions_judge(&conditions, representation->modified)) {
    case VERDICT_UNCHANGED:
        respond_unchanged(request, representation);
        return;
    case VERDICT_FAILED:
        close_file(representation);
        request_fail(request, 412);
        return;
    case VERDICT_SEND:
        break;
    }
    int count = conditions.range ? find_ranges(request, representation, &conditions, ranges) : -1;
    if (count < 0)
        respond_whole(request, representation);
    else if (count == 0)
        respond_unsatisfiable(request, representation);
    else if (count == 1)
        respond_part(request, representation, ranges);
    else
        respond_parts(request, representation, ranges, (size_t)count);
}
