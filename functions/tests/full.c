/* /api/tests/full, with any method: shows the request as a function sees it, and how often that was asked. */
#include <cloudgate.h>

static cg_counter *calls;

static int init(void)
{
    calls = cg_counter_open("demo/full");
    return calls ? 0 : -1;
}

static void print_fields(cg_event *event, const char *title, const cg_fields *fields)
{
    if (fields->count == 0)
        return;
    cg_print(event, "\n%s\n", title);
    for (size_t i = 0; i < fields->count; i++)
        cg_print(event, "  %s: %s\n", fields->items[i].name.ptr, fields->items[i].value.ptr);
}

static void show(cg_event *event)
{
    cg_print(event, "Hello, World!\n\n");
    cg_print(event, "method  %s\npath    %s\nquery   %s\n", event->method.ptr, event->path.ptr,
             event->query.ptr);
    cg_print(event, "host    %s\nscheme  %s\nclient  %s\n", event->host.ptr, event->scheme.ptr,
             event->ip.ptr);
    cg_print(event, "call    %lld\n", (long long)cg_counter_add(calls, 1));
    print_fields(event, "headers", &event->headers);
    print_fields(event, "query parameters", &event->query_params);
    print_fields(event, "form", &event->form);
    if (event->body.len > 0) {
        cg_print(event, "\nbody, %zu bytes\n", event->body.len);
        cg_write(event, event->body.ptr, event->body.len);
        cg_print(event, "\n");
    }
}

CG_MODULE(.init = init, .handle = show);
