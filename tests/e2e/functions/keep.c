/* POST a form: keeps its first file as kept/file.bin; tells the result, and whether the file was on disk and
   its path led to the content. ?to= names another place, ?twice keeps a copy of the struct that the server
   does not know. */
#include <cloudgate.h>
#include <stdio.h>

static int leads_to_content(const cg_file *file)
{
    FILE *content = fopen(file->path.ptr, "r");
    size_t len = 0;
    int same = content != NULL;
    for (int c; same && (c = fgetc(content)) != EOF; len++)
        same = len < file->data.len && (unsigned char)file->data.ptr[len] == c;
    if (content != NULL)
        fclose(content);
    return same && len == file->data.len;
}

static void keep(cg_event *event)
{
    const char *to = cg_query(event, "to");
    cg_file copy = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    if (event->files.count == 0) {
        cg_reply(event, 400, "text/plain", "no file");
        return;
    }
    const cg_file *file = cg_query(event, "twice") ? &copy : &event->files.items[0];
    const char *where = file->path.ptr == NULL ? "memory" : leads_to_content(file) ? "disk" : "nowhere";
    int result = cg_keep_file(event, file, to ? to : "kept/file.bin");
    unsigned sum = 0; /* the content is still there */
    for (size_t i = 0; i < file->data.len; i++)
        sum = 31 * sum + (unsigned char)file->data.ptr[i];
    cg_reply(event, 200, "text/plain", "%d %s %08x", result, where, sum);
}

CG_MODULE(.post = keep);
