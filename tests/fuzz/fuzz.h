/* What the fuzz targets share. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <cloudgate.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
#define require(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

/* A copy that ends where its block ends, so that a sanitizer sees every read behind it. */
static inline char *exact_copy(const void *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    require(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

/* The slice has the NUL behind it that cg_str promises. */
static inline void require_terminated(cg_str text)
{
    require(text.ptr != NULL && text.ptr[text.len] == '\0');
}

static inline int same_text(cg_str a, cg_str b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

#endif
