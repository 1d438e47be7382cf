#include "app/form.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

struct form_file {
    cg_file public;
    struct spool spool;
};

struct form {
    struct arena *arena;
    struct multipart multipart;
    struct form_limits limits;
    size_t memory; /* bytes still to be had */
    cg_field *fields;
    size_t field_count, field_capacity;
    struct form_file **files;
    size_t file_count, file_capacity, disk_count;
    struct form_file *file; /* the part that is coming in: this, or else a field */
    cg_str name;
    struct buffer value;
    cg_file *public; /* made at the end */
    int error;       /* of the disk */
};

static int disk_failed(struct form *form, int error)
{
    form->error = error;
    return FORM_DISK;
}

static int begin_part(void *user, const struct multipart_part *part)
{
    struct form *form = user;
    struct arena *arena = form->arena;
    size_t texts = part->name.len + part->filename.len + part->type.len;
    if (texts > form->memory)
        return -413;
    form->memory -= texts;
    cg_str name = arena_copy(arena, part->name.ptr, part->name.len);
    if (part->filename.ptr == NULL) {
        form->name = name;
        form->file = NULL;
        return 0;
    }
    form->files = xgrow(form->files, form->file_count, &form->file_capacity, sizeof *form->files);
    struct form_file *file = xzalloc(sizeof *file);
    file->public.name = name;
    file->public.filename = arena_copy(arena, part->filename.ptr, part->filename.len);
    file->public.type = arena_copy(arena, part->type.ptr, part->type.len);
    file->spool.folder = form->limits.folder;
    file->spool.memory_limit = form->memory < FORM_FILE_MEMORY ? form->memory : FORM_FILE_MEMORY;
    form->files[form->file_count++] = form->file = file;
    return 0;
}

static int take_file_data(struct form *form, const char *data, size_t len)
{
    struct spool *spool = &form->file->spool;
    bool was_on_disk = spool->on_disk;
    int error = spool_write(spool, data, len);
    if (error != 0)
        return disk_failed(form, error);
    if (!was_on_disk && spool->on_disk && ++form->disk_count > form->limits.files)
        return -413;
    return 0;
}

static int take_data(void *user, const char *data, size_t len)
{
    struct form *form = user;
    if (form->file != NULL)
        return take_file_data(form, data, len);
    if (form->value.len + len > form->memory)
        return -413;
    buffer_append(&form->value, data, len);
    return 0;
}

static void add_field(struct form *form)
{
    struct arena *arena = form->arena;
    form->fields =
        arena_extend(arena, form->fields, form->field_count, &form->field_capacity, sizeof *form->fields);
    form->fields[form->field_count++] =
        (cg_field){form->name, arena_copy(arena, form->value.data, form->value.len)};
    form->memory -= form->value.len;
    buffer_finish(&form->value);
}

static int end_part(void *user)
{
    struct form *form = user;
    if (form->file == NULL)
        add_field(form);
    else if (!form->file->spool.on_disk)
        form->memory -= (size_t)form->file->spool.len;
    form->file = NULL;
    return 0;
}

static const struct multipart_sink sink = {begin_part, take_data, end_part};

int form_create(struct arena *arena, cg_str content_type, const struct form_limits *limits,
                struct form **ret_form)
{
    cg_str boundary;
    int error = multipart_boundary(content_type, &boundary);
    if (error != 0)
        return error;
    struct form *form = xzalloc(sizeof *form);
    form->arena = arena;
    form->limits = *limits;
    form->memory = limits->memory;
    struct multipart_limits of_parts = MULTIPART_LIMITS;
    of_parts.parts = limits->parts;
    multipart_init(&form->multipart, boundary, &of_parts, &sink, form);
    *ret_form = form;
    return 0;
}

void form_destroy(struct form *form)
{
    if (form == NULL)
        return;
    for (size_t i = 0; i < form->file_count; i++) {
        spool_finish(&form->files[i]->spool);
        free(form->files[i]);
    }
    free(form->files);
    buffer_finish(&form->value);
    multipart_finish(&form->multipart);
    free(form);
}

int form_feed(struct form *form, const char *data, size_t len)
{
    return multipart_feed(&form->multipart, data, len);
}

static int finish_file(struct form *form, struct form_file *file)
{
    int error = spool_bytes(&file->spool, &file->public.data);
    if (error != 0)
        return disk_failed(form, error);
    if (file->spool.on_disk)
        file->public.path = arena_printf(form->arena, "/proc/self/fd/%d", file->spool.fd);
    return 0;
}

int form_end(struct form *form, cg_fields *ret_fields, cg_files *ret_files)
{
    int error = multipart_end(&form->multipart);
    form->public = arena_alloc(form->arena, form->file_count * sizeof *form->public);
    for (size_t i = 0; error == 0 && i < form->file_count; i++) {
        error = finish_file(form, form->files[i]);
        form->public[i] = form->files[i]->public;
    }
    if (error != 0)
        return error;
    *ret_fields = (cg_fields){form->fields, form->field_count};
    *ret_files = (cg_files){form->public, form->file_count};
    return 0;
}

struct spool *form_spool(const struct form *form, const cg_file *file)
{
    if (form == NULL || file < form->public || file >= form->public + form->file_count)
        return NULL;
    return &form->files[file - form->public]->spool;
}

int form_error(const struct form *form)
{
    return form->error;
}
