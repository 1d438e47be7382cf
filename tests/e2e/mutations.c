#include "mutations.h"

#include "harness.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct mutation *one = a, *other = b;
    if (one->len != other->len)
        return one->len < other->len ? -1 : 1;
    return memcmp(one->bytes, other->bytes, one->len);
}

void mutations_add(struct mutations *mutations, const char *family, size_t index, const void *bytes,
                   size_t len, enum verdict expected, long body)
{
    struct mutation *mutation = calloc(1, sizeof *mutation);
    ck_assert_ptr_nonnull(mutation);
    mutation->bytes = malloc(len + 1);
    ck_assert_ptr_nonnull(mutation->bytes);
    memcpy(mutation->bytes, bytes, len);
    mutation->bytes[len] = '\0';
    mutation->len = len;
    mutation->is_head = len > 5 && memcmp(bytes, "HEAD ", 5) == 0;
    mutation->expected = expected;
    mutation->body = body;
    if (*(struct mutation **)tsearch(mutation, &mutations->known, compare) != mutation) {
        free(mutation->bytes);
        free(mutation);
        return;
    }
    mutation->name = text_print("%s/%02zx", family, index);
    mutations->items = reallocarray(mutations->items, mutations->count + 1, sizeof *mutations->items);
    ck_assert_ptr_nonnull(mutations->items);
    mutations->items[mutations->count++] = mutation;
}

void mutations_add_text(struct mutations *mutations, const char *family, size_t index, char *text,
                        enum verdict expected, long body)
{
    mutations_add(mutations, family, index, text, strlen(text), expected, body);
    free(text);
}

struct mutations *mutations_make(void)
{
    struct mutations *mutations = calloc(1, sizeof *mutations);
    ck_assert_ptr_nonnull(mutations);
    mutations_add_bytes(mutations);
    mutations_add_framing(mutations);
    mutations_add_hosts(mutations);
    mutations_add_heads(mutations);
    return mutations;
}

const char *verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case SILENT:
        return "silent";
    case TAKEN:
        return "taken";
    case ALONE:
        return "taken alone";
    case REFUSED:
        return "refused";
    case CARRIED_ON:
        return "refused, carried on";
    case SMUGGLE:
        return "smuggled";
    case UNEXPECTED:
        return "too many answers";
    }
    return "?";
}

char *mutation_describe(const struct mutation *mutation)
{
    char *text = malloc(4 * mutation->len + 1), *to = text;
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < mutation->len; i++) {
        unsigned char byte = (unsigned char)mutation->bytes[i];
        if (byte == '\r')
            to = stpcpy(to, "\\r");
        else if (byte == '\n')
            to = stpcpy(to, "\\n");
        else if (byte < ' ' || byte > '~')
            to += sprintf(to, "\\x%02x", byte);
        else
            *to++ = (char)byte;
    }
    *to = '\0';
    return text;
}
