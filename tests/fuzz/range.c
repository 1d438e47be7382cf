/* The size of what is asked for in its first eight bytes, then the value of a Range field. */
#include "parse/range.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint64_t size, total = 0;
    struct range ranges[RANGE_MAX];
    if (len < sizeof size)
        return 0;
    memcpy(&size, data, sizeof size);
    len -= sizeof size;
    char *text = exact_copy(data + sizeof size, len);
    int count = range_parse(cg_bytes(text, len), size, ranges);
    require(count <= RANGE_MAX);
    for (int i = 0; i < count; i++) {
        require(ranges[i].first <= ranges[i].last && ranges[i].last < size);
        total += ranges[i].last - ranges[i].first + 1;
        require(total <= size);
    }
    free(text);
    return 0;
}
