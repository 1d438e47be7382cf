/* The first byte says where the head is cut; what follows are the bytes of a connection. */
#include "parse/head.h"

#include "parse/field.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT 4096

static void require_inside(cg_str text, const char *data, size_t size)
{
    require(text.ptr >= data && text.ptr + text.len <= data + size);
}

static void require_sound(const struct head *head, const char *data, size_t size)
{
    require_terminated(head->method);
    require_terminated(head->target);
    require_terminated(head->query);
    require_terminated(head->host);
    require(field_name_valid(head->method) && host_valid(head->host));
    require_inside(head->method, data, size);
    require_inside(head->target, data, size);
    require_inside(head->path, data, size);
    require_inside(head->query, data, size);
    require(head->path.len > 0 && (head->path.ptr[0] == '/' || strcmp(head->target.ptr, "*") == 0));
    require(head->minor == 0 || head->minor == 1);
    require((head->body == BODY_LENGTH) == (head->length > 0));
    require(head->body != BODY_CHUNKED || head->minor == 1);
    size_t hosts = 0;
    for (size_t i = 0; i < head->count; i++) {
        const cg_field *field = &head->fields[i];
        require_terminated(field->name);
        require_terminated(field->value);
        require_inside(field->name, data, size);
        require_inside(field->value, data, size);
        require(field_name_valid(field->name) && field_value_valid(field->value));
        hosts += strcmp(field->name.ptr, "host") == 0;
        for (size_t j = 0; j < field->name.len; j++)
            require(field->name.ptr[j] < 'A' || field->name.ptr[j] > 'Z');
    }
    require(hosts == 1 || (hosts == 0 && head->minor == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct head_scan whole = {0}, pieces = {0};
    struct head head;
    if (size == 0)
        return 0;
    size_t cut = data[0] % size;
    char *bytes = exact_copy(data + 1, --size), *start = exact_copy(bytes, cut);
    int r = head_scan(bytes, size, LIMIT, &whole);
    int cut_r = head_scan(start, cut, LIMIT, &pieces);
    if (cut_r == 0)
        cut_r = head_scan(bytes, size, LIMIT, &pieces);
    require(r == cut_r);
    if (r == 1) {
        require(whole.len == pieces.len && whole.lines == pieces.lines && whole.skipped == pieces.skipped);
        require(whole.len <= size && whole.len <= LIMIT && whole.lines <= HEAD_MAX_FIELDS);
        char *private = exact_copy(bytes, whole.len);
        cg_field *fields = malloc((whole.lines + 1) * sizeof *fields);
        r = head_parse(private, &whole, fields, &head);
        require(r == 0 || r == -400 || r == -417 || r == -501 || r == -505);
        if (r == 0) {
            require(head.count == whole.lines);
            require_sound(&head, private, whole.len);
        }
        free(fields);
        free(private);
    } else {
        require(r == 0 || r == -400 || r == -414 || r == -431);
    }
    free(start);
    free(bytes);
    return 0;
}
