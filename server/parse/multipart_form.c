#include "parse/multipart_form.h"

#include "parse/multipart.h"

struct collector {
    struct arena *arena;
    cg_field *fields;
    cg_file *files;
    size_t field_count, file_count;
    cg_str *content; /* of the current part */
};

/* Room for one more item; grows by doubling. */
static void *reserve(struct arena *arena, void *items, size_t count, size_t size)
{
    if (count > 0 && (count < 8 || (count & (count - 1)) != 0))
        return items;
    return arena_grow(arena, items, count * size, (count < 8 ? 8 : 2 * count) * size);
}

static cg_str keep(struct collector *collector, cg_str text)
{
    return arena_copy(collector->arena, text.ptr, text.len);
}

static int begin(void *user, const struct multipart_part *part)
{
    struct collector *to = user;
    cg_str nothing = cg_bytes("", 0);
    if (part->filename.ptr == NULL) {
        to->fields = reserve(to->arena, to->fields, to->field_count, sizeof *to->fields);
        cg_field *field = &to->fields[to->field_count++];
        *field = (cg_field){keep(to, part->name), nothing};
        to->content = &field->value;
        return 0;
    }
    to->files = reserve(to->arena, to->files, to->file_count, sizeof *to->files);
    cg_file *file = &to->files[to->file_count++];
    *file = (cg_file){
        .name = keep(to, part->name),
        .filename = keep(to, part->filename),
        .type = keep(to, part->type),
        .data = nothing,
    };
    to->content = &file->data;
    return 0;
}

/* A body that is fed in one piece gives each content in one piece, so nothing is copied twice. */
static int append(void *user, const char *data, size_t len)
{
    struct collector *to = user;
    size_t had = to->content->len;
    char *copy = arena_try(to->arena, had + len + 1);
    if (copy == NULL)
        return -503;
    memcpy(copy, to->content->ptr, had);
    memcpy(copy + had, data, len);
    copy[had + len] = '\0';
    *to->content = cg_bytes(copy, had + len);
    return 0;
}

static int end(void *user)
{
    (void)user;
    return 0;
}

int multipart_collect(cg_str content_type, cg_str body, struct arena *arena, cg_fields *ret_form,
                      cg_files *ret_files)
{
    static const struct multipart_sink sink = {begin, append, end};
    struct collector collector = {.arena = arena};
    struct multipart multipart;
    cg_str boundary;
    int r = multipart_boundary(content_type, &boundary);
    if (r < 0)
        return r;
    multipart_init(&multipart, boundary, &MULTIPART_LIMITS, &sink, &collector);
    r = multipart_feed(&multipart, body.ptr, body.len);
    if (r == 0)
        r = multipart_end(&multipart);
    multipart_finish(&multipart);
    if (r < 0)
        return r;
    *ret_form = (cg_fields){collector.fields, collector.field_count};
    *ret_files = (cg_files){collector.files, collector.file_count};
    return 0;
}
