#include "app/static_file.h"

#include "app/mime.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/str.h"
#include "parse/date.h"

#include <stdlib.h>

static void add(cg_field *fields, size_t *count, const char *name, cg_str value)
{
    fields[(*count)++] = (cg_field){cg_string(name), value};
}

size_t static_file_fields(const struct static_file *file, cg_str etag, const char *modified,
                          const char *encoding, cg_field out[STATIC_FIELDS_MAX], size_t *ret_count_304)
{
    size_t count = 0;
    add(out, &count, "etag", etag);
    if (modified != NULL)
        add(out, &count, "last-modified", cg_string(modified));
    add(out, &count, "cache-control", cg_string(file->cache_control));
    if (file->varies)
        add(out, &count, "vary", STR("accept-encoding"));
    *ret_count_304 = count;
    add(out, &count, "content-type", cg_string(file->type));
    add(out, &count, "x-content-type-options", STR("nosniff"));
    add(out, &count, "accept-ranges", STR("bytes"));
    if (encoding != NULL)
        add(out, &count, "content-encoding", cg_string(encoding));
    return count;
}

static cg_str make_block(const struct static_form *form, size_t count, bool with_length)
{
    struct buffer lines = {0};
    for (size_t i = 0; i < count; i++)
        buffer_printf(&lines, "%s: %s\r\n", form->fields[i].name.ptr, form->fields[i].value.ptr);
    if (with_length)
        buffer_printf(&lines, "content-length: %zu\r\n", form->data.len);
    size_t len = lines.len;
    return cg_bytes(buffer_detach(&lines), len);
}

static void make_form(struct static_file *file, enum coding coding)
{
    struct static_form *form = &file->forms[coding];
    const struct blob *blob = file->blobs[coding];
    form->data = cg_bytes(blob->bytes, blob->len);
    form->etag = cg_string(blob->etag);
    form->field_count =
        static_file_fields(file, form->etag, file->modified != STATIC_UNDATED ? file->modified_text : NULL,
                           coding_name(coding), form->fields, &form->field_count_304);
    form->block = make_block(form, form->field_count, true);
    form->block_304 = make_block(form, form->field_count_304, false);
}

struct static_file *static_file_create(const struct static_file_parts *parts)
{
    struct static_file *file = xzalloc(sizeof *file);
    file->refs = 1;
    file->path = cg_bytes(xstrndup(parts->path.ptr, parts->path.len), parts->path.len);
    file->disk_path = xstrdup(parts->disk_path);
    file->cache_control = xstrdup(parts->cache_control);
    file->type = mime_of(file->path);
    file->varies = parts->varies;
    file->on_disk = parts->blobs[CODING_IDENTITY] == NULL;
    file->modified = parts->modified;
    if (file->modified != STATIC_UNDATED)
        date_format(file->modified, file->modified_text);
    file->stat = parts->stat;
    file->newest_date = parts->newest_date;
    file->fresh = parts->fresh;
    file->unseen = parts->unseen;
    file->finished = parts->finished;
    for (int coding = 0; coding < CODING_COUNT; coding++) {
        file->beside[coding] = blob_keep(parts->beside[coding]);
        file->blobs[coding] = blob_keep(parts->blobs[coding]);
        if (file->blobs[coding] != NULL)
            make_form(file, (enum coding)coding);
    }
    return file;
}

struct static_file *static_file_with(const struct static_file *file, struct blob *const forms[CODING_COUNT])
{
    struct static_file_parts parts = {
        .path = file->path,
        .disk_path = file->disk_path,
        .cache_control = file->cache_control,
        .stat = file->stat,
        .modified = file->modified,
        .newest_date = file->newest_date,
        .varies = file->varies,
        .fresh = file->fresh,
        .unseen = file->unseen,
        .finished = true,
    };
    for (int coding = 0; coding < CODING_COUNT; coding++) {
        parts.blobs[coding] = forms[coding];
        parts.beside[coding] = file->beside[coding];
    }
    return static_file_create(&parts);
}

struct static_file *static_file_keep(struct static_file *file)
{
    file->refs++;
    return file;
}

void static_file_drop(struct static_file *file)
{
    if (--file->refs > 0)
        return;
    for (int coding = 0; coding < CODING_COUNT; coding++) {
        blob_drop(file->blobs[coding]);
        blob_drop(file->beside[coding]);
        free((char *)file->forms[coding].block.ptr);
        free((char *)file->forms[coding].block_304.ptr);
    }
    free((char *)file->path.ptr);
    free((char *)file->disk_path);
    free((char *)file->cache_control);
    free(file);
}

uint64_t static_file_bytes(const struct static_file *file)
{
    uint64_t bytes = 0;
    for (int coding = 0; coding < CODING_COUNT; coding++)
        bytes += file->blobs[coding] ? file->blobs[coding]->len : 0;
    return bytes;
}
