/* The first two bytes say how the body is cut; what follows is a body with the boundary "b", or, when the
   third byte is
   '@', a Content-Type up to a line end and then its body. */
#include "parse/multipart.h"

#include "app/form.h"
#include "base/buffer.h"
#include "tests/fuzz/fuzz.h"

static const struct multipart_limits limits = {.parts = 8, .lines = 4, .head = 200};

struct outcome {
    struct buffer seen;
    bool open;
    size_t parts;
};

static void note(struct outcome *outcome, cg_str text)
{
    if (text.ptr != NULL) {
        require_terminated(text);
        require(strpbrk(text.ptr, "\r\n") == NULL && strlen(text.ptr) == text.len);
    }
    buffer_text(&outcome->seen, text.ptr ? "[" : "-");
    buffer_append(&outcome->seen, text.ptr ? text.ptr : "", text.len);
}

static int begin(void *user, const struct multipart_part *part)
{
    struct outcome *outcome = user;
    require(!outcome->open && part->name.ptr != NULL && part->type.ptr != NULL);
    outcome->open = true;
    outcome->parts++;
    note(outcome, part->name);
    note(outcome, part->filename);
    note(outcome, part->type);
    return 0;
}

static int content(void *user, const char *data, size_t len)
{
    struct outcome *outcome = user;
    require(outcome->open && len > 0);
    buffer_append(&outcome->seen, data, len);
    return 0;
}

static int end(void *user)
{
    struct outcome *outcome = user;
    require(outcome->open);
    outcome->open = false;
    buffer_text(&outcome->seen, "]");
    return 0;
}

static int parse(cg_str boundary, const char *body, size_t size, size_t first, size_t piece,
                 struct outcome *outcome)
{
    static const struct multipart_sink sink = {begin, content, end};
    struct multipart multipart;
    int r = 0;
    multipart_init(&multipart, boundary, &limits, &sink, outcome);
    for (size_t at = 0, len = first; at < size && r == 0; at += len, len = piece) {
        if (len > size - at)
            len = size - at;
        char *copy = exact_copy(body + at, len);
        r = multipart_feed(&multipart, copy, len);
        free(copy);
    }
    r = multipart_end(&multipart);
    require(multipart.head.len <= limits.head);
    multipart_finish(&multipart);
    require(r == 0 || r == -400 || r == -413);
    require(r != 0 || !outcome->open);
    require(outcome->parts <= limits.parts);
    return r;
}

/* The same body as a form, with so little memory that files go to disk early. Its limits on parts are not
   those of the parse before. */
static void collect(cg_str boundary_type, const char *body, size_t len, int expected, size_t parts)
{
    struct arena arena = {0};
    cg_fields fields;
    cg_files files;
    struct form *form;
    if (form_create(&arena, boundary_type, &(struct form_limits){1000, 256, 4096, "/dev/shm"}, &form) != 0)
        return;
    char *copy = exact_copy(body, len);
    int r = form_feed(form, copy, len);
    free(copy);
    if (r == 0)
        r = form_end(form, &fields, &files);
    require(expected == -413 || r == expected || r == -413);
    if (r == 0 && expected == 0) {
        require(fields.count + files.count == parts);
        for (size_t i = 0; i < fields.count; i++)
            require_terminated(fields.items[i].value);
        for (size_t i = 0; i < files.count; i++)
            require_terminated(files.items[i].data);
    }
    form_destroy(form);
    arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = {0}, pieces = {0};
    cg_str type = cg_string("multipart/form-data; boundary=b"), boundary = cg_string("b");
    if (size < 3)
        return 0;
    char *copy = exact_copy(data + 2, size - 2), *body = copy, *stop = copy + size - 2;
    char *newline = copy[0] == '@' ? memchr(copy, '\n', size - 2) : NULL;
    if (newline != NULL) {
        type = cg_bytes(copy + 1, (size_t)(newline - copy) - 1);
        body = newline + 1;
        if (multipart_boundary(type, &boundary) != 0)
            goto out;
        require(boundary.len > 0 && boundary.len <= MULTIPART_BOUNDARY_MAX);
    }
    size_t len = (size_t)(stop - body);
    int r = parse(boundary, body, len, len, len, &whole);
    int pieces_r = parse(boundary, body, len, data[0], 1 + data[1] % 32u, &pieces);
    /* Which of two errors comes first may depend on the cut, since a limit is seen before the line is whole.
     */
    require((r == 0) == (pieces_r == 0));
    if (r == 0)
        require(same_text(cg_bytes(whole.seen.data ? whole.seen.data : "", whole.seen.len),
                          cg_bytes(pieces.seen.data ? pieces.seen.data : "", pieces.seen.len)));
    collect(type, body, len, r, whole.parts);
    buffer_finish(&whole.seen);
    buffer_finish(&pieces.seen);
out:
    free(copy);
    return 0;
}
