/* A tag, a line end, and the value of an If-None-Match field. */
#include "parse/etag.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    if (newline == NULL)
        return 0;
    size_t tag_len = (size_t)(newline - data), list_len = size - tag_len - 1;
    char *tag = exact_copy(data, tag_len), *list = exact_copy(newline + 1, list_len);
    bool matches = etag_matches(cg_bytes(list, list_len), cg_bytes(tag, tag_len));
    /* A match has the opaque part of the tag somewhere in the list, or the list is "*". */
    if (matches && memchr(list, '*', list_len) == NULL) {
        const char *opaque = memchr(tag, '"', tag_len);
        require(opaque != NULL);
        const char *close = memchr(opaque + 1, '"', (size_t)(tag + tag_len - opaque) - 1);
        require(close != NULL);
        require(memmem(list, list_len, opaque, (size_t)(close - opaque) + 1) != NULL);
    }
    free(list);
    free(tag);
    return 0;
}
