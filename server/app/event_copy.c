#include "app/event.h"
#include "base/alloc.h"

#include <string.h>

#define TEXTS 9
#define LISTS 4

/* What of an event is copied. */
struct parts {
    cg_str *texts[TEXTS];
    cg_fields *lists[LISTS];
};

static struct parts parts_of(cg_event *event)
{
    return (struct parts){
        {&event->method, &event->path, &event->ip, &event->query, &event->url, &event->host, &event->scheme,
         &event->route, &event->id},
        {&event->headers, &event->cookies, &event->query_params, &event->path_params},
    };
}

static size_t size_of(const struct parts *parts)
{
    size_t size = 0;
    for (size_t i = 0; i < TEXTS; i++)
        size += parts->texts[i]->len + 1;
    for (size_t i = 0; i < LISTS; i++)
        for (size_t k = 0; k < parts->lists[i]->count; k++) {
            const cg_field *field = &parts->lists[i]->items[k];
            size += sizeof *field + field->name.len + 1 + field->value.len + 1;
        }
    return size;
}

static void move_text(cg_str *text, char **at)
{
    if (text->ptr == NULL)
        return;
    memcpy(*at, text->ptr, text->len);
    (*at)[text->len] = '\0';
    text->ptr = *at;
    *at += text->len + 1;
}

static void move_list(cg_fields *list, cg_field **at)
{
    if (list->count > 0)
        memcpy(*at, list->items, list->count * sizeof **at);
    list->items = *at;
    *at += list->count;
}

/* The arrays come first: they have to be aligned. */
static void move_all(const struct parts *parts, void *memory)
{
    cg_field *fields = memory;
    for (size_t i = 0; i < LISTS; i++)
        move_list(parts->lists[i], &fields);
    char *text = (char *)fields;
    for (size_t i = 0; i < TEXTS; i++)
        move_text(parts->texts[i], &text);
    for (cg_field *field = memory; field < fields; field++) {
        move_text(&field->name, &text);
        move_text(&field->value, &text);
    }
}

void *event_copy(const struct event *event, struct event *ret_copy)
{
    *ret_copy = (struct event){.public = event->public, .action = event->action, .owner = event->owner};
    cg_event *public = &ret_copy->public;
    const struct parts parts = parts_of(public);
    void *memory = xalloc(size_of(&parts));
    move_all(&parts, memory);
    public->body = cg_bytes("", 0);
    public->form = (cg_fields){0};
    public->files = (cg_files){0};
    return memory;
}
