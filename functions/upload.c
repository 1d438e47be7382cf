/* POST /api/upload, multipart/form-data: says as JSON what arrived; nothing is kept.
   {"files":[{"field":"file","name":"cat.png","type":"image/png","size":1234}],"fields":{"note":"hi"}} */
#include <cloudgate.h>
#include <jansson.h>

/* What a client sends need not be UTF-8, which JSON must be; then an empty string takes its place. */
static json_t *text(cg_str s)
{
    json_t *string = json_stringn(s.ptr, s.len);
    return string ? string : json_string("");
}

static json_t *describe(const cg_file *file)
{
    return json_pack("{s:o, s:o, s:o, s:I}", "field", text(file->name), "name", text(file->filename), "type",
                     text(file->type), "size", (json_int_t)file->data.len);
}

static void upload(cg_event *event)
{
    json_t *files = json_array(), *fields = json_object();
    for (size_t i = 0; i < event->files.count; i++)
        json_array_append_new(files, describe(&event->files.items[i]));
    for (size_t i = 0; i < event->form.count; i++)
        json_object_set_new(fields, event->form.items[i].name.ptr, text(event->form.items[i].value));
    cg_reply_json(event, 200, json_pack("{s:o, s:o}", "files", files, "fields", fields));
}

CG_MODULE(.post = upload);
