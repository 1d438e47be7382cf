/* The first byte is the most pairs; what follows is a query. */
#include "parse/query.h"

#include "tests/fuzz/fuzz.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    cg_fields pairs = {0};
    if (size == 0)
        return 0;
    size_t most = data[0], expected = 0, total = 0;
    char *raw = exact_copy(data + 1, --size);
    for (size_t i = 0; i < size; i++)
        expected += raw[i] != '&' && (i + 1 == size || raw[i + 1] == '&');
    int r = query_parse(cg_bytes(raw, size), most, &arena, &pairs);
    require(r == (expected > most ? -E2BIG : 0));
    if (r == 0)
        require(pairs.count == expected);
    for (size_t i = 0; i < pairs.count; i++) {
        require_terminated(pairs.items[i].name);
        require_terminated(pairs.items[i].value);
        total += pairs.items[i].name.len + pairs.items[i].value.len;
    }
    require(total <= size);
    arena_finish(&arena);
    free(raw);
    return 0;
}
