/* An Origin field, a NUL, an offer of extensions. */
#include "parse/origin.h"
#include "parse/ws_deflate.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
    const size_t first = nul ? (size_t)(nul - data) : size, second = nul ? size - first - 1 : 0;
    char *origin = exact_copy(data, first), *offers = exact_copy(nul ? nul + 1 : data, second);
    char once[ORIGIN_MAX], twice[ORIGIN_MAX];
    struct ws_deflate deflate;
    if (origin_normalise(cg_bytes(origin, first), once)) {
        require(origin_normalise(cg_string(once), twice) && strcmp(once, twice) == 0);
        const char *host = strstr(once, "://") + 3;
        require(origin_is_of_host(cg_bytes(origin, first), cg_string(host)));
    }
    if (ws_deflate_accept(cg_bytes(offers, second), &deflate))
        require(deflate.bits >= WS_DEFLATE_BITS_MIN && deflate.bits <= WS_DEFLATE_BITS_MAX);
    free(origin);
    free(offers);
    return 0;
}
