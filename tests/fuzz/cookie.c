/* Cookie fields, one a line. */
#include "parse/cookie.h"

#include "parse/field.h"
#include "tests/fuzz/fuzz.h"

#define MOST 32

/* Joined and parsed are the same cookies as parsed one by one. */
static void compare(const cg_field *fields, size_t count, cg_str joined, struct arena *arena)
{
    cg_fields all, some;
    size_t seen = 0;
    cookie_parse(joined, arena, &all);
    for (size_t i = 0; i < count; i++) {
        cookie_parse(fields[i].value, arena, &some);
        for (size_t j = 0; j < some.count; j++, seen++) {
            require(seen < all.count);
            require(same_text(some.items[j].name, all.items[seen].name));
            require(same_text(some.items[j].value, all.items[seen].value));
            require_terminated(all.items[seen].name);
            require_terminated(all.items[seen].value);
            require(all.items[seen].name.len > 0);
            require(blank_trim(all.items[seen].value).len == all.items[seen].value.len);
        }
    }
    require(seen == all.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    cg_field fields[MOST], joined[MOST];
    size_t count = 0;
    char *text = exact_copy(data, size), *end = text + size;
    for (char *at = text; count < MOST;) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        fields[count++] =
            (cg_field){cg_string("cookie"), cg_bytes(at, (size_t)((newline ? newline : end) - at))};
        if (newline == NULL)
            break;
        at = newline + 1;
    }
    size_t left = count;
    memcpy(joined, fields, sizeof joined);
    cookie_join(joined, &left, &arena);
    require(left == 1);
    compare(fields, count, joined[0].value, &arena);
    arena_finish(&arena);
    free(text);
    return 0;
}
