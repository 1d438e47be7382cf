/* The first byte is the size of the pieces, the second a limit; what follows is the coded body. */
#include "parse/chunked.h"

#include "base/buffer.h"
#include "tests/fuzz/fuzz.h"

struct outcome {
    struct buffer body;
    size_t used;
    int status;
};

static struct outcome decode(const uint8_t *data, size_t size, size_t piece, uint64_t limit)
{
    struct chunked chunked = {.limit = limit};
    struct outcome outcome = {0};
    while (outcome.status == 0 && outcome.used < size) {
        size_t len = size - outcome.used < piece ? size - outcome.used : piece, used = 0;
        char *bytes = exact_copy(data + outcome.used, len);
        cg_str payload = {0};
        outcome.status = chunked_feed(&chunked, bytes, len, &used, &payload);
        if (outcome.status >= 0) {
            require(used > 0 && used <= len);
            require(payload.ptr >= bytes && payload.ptr + payload.len <= bytes + used);
            buffer_append(&outcome.body, payload.ptr, payload.len);
            outcome.used += used;
        }
        free(bytes);
    }
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    uint64_t limit = data[1];
    struct outcome whole = decode(data + 2, size - 2, size, limit);
    struct outcome pieces = decode(data + 2, size - 2, 1 + data[0] % 16u, limit);
    require(whole.status == pieces.status);
    require(whole.status == 0 || whole.status == 1 || whole.status == -400 || whole.status == -413);
    if (whole.status >= 0) {
        require(whole.used == pieces.used && whole.body.len == pieces.body.len);
        require(whole.body.len == 0 || memcmp(whole.body.data, pieces.body.data, whole.body.len) == 0);
        require(limit == 0 || whole.body.len <= limit);
    }
    buffer_finish(&whole.body);
    buffer_finish(&pieces.body);
    return 0;
}
