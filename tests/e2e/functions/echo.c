/* ANY -> the whole event as JSON. Text that is no UTF-8 becomes {"hex": …}; bodies and files are told by size
   and digest (FNV-1a, as in the harness), and in hex while they are short. */
#include <cloudgate.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SHORT 512

static json_t *hex(cg_str s)
{
    char *text = malloc(2 * s.len + 1);
    text[0] = '\0';
    for (size_t i = 0; i < s.len; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)s.ptr[i]);
    json_t *json = json_string(text);
    free(text);
    return json;
}

static json_t *text(cg_str s)
{
    if (s.ptr == NULL)
        return json_null();
    if (s.ptr[s.len] != '\0')
        return json_string("NOT TERMINATED");
    json_t *json = json_stringn(s.ptr, s.len);
    return json ? json : json_pack("{s:o}", "hex", hex(s));
}

static json_t *content(cg_str s)
{
    char digest[17];
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)hash);
    if (s.ptr == NULL || s.ptr[s.len] != '\0')
        return json_string("NOT TERMINATED");
    return json_pack("{s:I, s:s, s:o*}", "size", (json_int_t)s.len, "digest", digest, "hex",
                     s.len <= SHORT ? hex(s) : NULL);
}

static json_t *fields(cg_fields list)
{
    json_t *json = json_array();
    for (size_t i = 0; i < list.count; i++)
        json_array_append_new(json, json_pack("[o, o]", text(list.items[i].name), text(list.items[i].value)));
    return json;
}

static json_t *files(cg_files list)
{
    json_t *json = json_array();
    for (size_t i = 0; i < list.count; i++) {
        const cg_file *file = &list.items[i];
        json_array_append_new(json, json_pack("{s:o, s:o, s:o, s:o}", "name", text(file->name), "filename",
                                              text(file->filename), "type", text(file->type), "data",
                                              content(file->data)));
    }
    return json;
}

static void echo(cg_event *event)
{
    const struct {
        const char *name;
        json_t *value;
    } members[] = {{"method", text(event->method)},
                   {"path", text(event->path)},
                   {"url", text(event->url)},
                   {"query", text(event->query)},
                   {"host", text(event->host)},
                   {"scheme", text(event->scheme)},
                   {"ip", text(event->ip)},
                   {"route", text(event->route)},
                   {"id", text(event->id)},
                   {"body", content(event->body)},
                   {"headers", fields(event->headers)},
                   {"cookies", fields(event->cookies)},
                   {"query_params", fields(event->query_params)},
                   {"path_params", fields(event->path_params)},
                   {"form", fields(event->form)},
                   {"files", files(event->files)}};
    json_t *answer = json_object();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set_new(answer, members[i].name, members[i].value);
    cg_reply_json(event, 200, answer);
}

CG_MODULE(.handle = echo);
