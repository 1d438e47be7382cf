/* The value of an Accept or Accept-Encoding field. */
#include "parse/accept.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct accept_encoding encoding = ACCEPT_ENCODING_NONE;
    char *text = exact_copy(data, size);
    cg_str list = cg_bytes(text, size);
    accept_encoding_read(&encoding, list);
    require(encoding.gzip >= ACCEPT_UNNAMED && encoding.gzip <= ACCEPT_FULL);
    require(encoding.identity >= ACCEPT_UNNAMED && encoding.identity <= ACCEPT_FULL);
    require(encoding.brotli == accept_weight(list, "br"));
    if (accept_prefers(&encoding, encoding.brotli))
        require(encoding.brotli > 0);
    free(text);
    return 0;
}
