/* GET ?size=N&type=T&h=NAME:VALUE... -> N bytes of text of that type, with those fields. */
#include <cloudgate.h>
#include <stdlib.h>
#include <string.h>

static void text(cg_event *event)
{
    int64_t size = 0;
    const char *type = cg_query(event, "type");
    if (cg_parse_int(cg_query(event, "size"), 0, 64 << 20, &size) != 0)
        size = 0;
    char *body = cg_alloc(event, (size_t)size + 1);
    for (int64_t i = 0; i < size; i++)
        body[i] = "hello, cloud gate!\n"[i % 19];
    for (size_t i = 0; i < event->query_params.count; i++) {
        char *name = cg_strdup(event, event->query_params.items[i].value.ptr), *colon = strchr(name, ':');
        if (strcmp(event->query_params.items[i].name.ptr, "h") != 0 || colon == NULL)
            continue;
        *colon = '\0';
        cg_add_header(event, name, colon + 1);
    }
    cg_reply_bytes(event, 200, type ? type : "text/plain", body, (size_t)size);
}

CG_MODULE(.get = text);
