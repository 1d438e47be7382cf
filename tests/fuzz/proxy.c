/* A header is the same however many bytes follow, and there is none in less than its bytes. */
#include "parse/proxy.h"

#include "tests/fuzz/fuzz.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_header header, again;
    char *copy = exact_copy(data, size);
    int result = proxy_parse(copy, size, &header);
    require(result == 1 || result == 0 || result == -EINVAL);
    if (result == 1) {
        require(header.size <= size && header.size <= PROXY_HEADER_MAX && strlen(header.ip) < PROXY_IP_SIZE);
        char *shorter = exact_copy(data, header.size);
        require(proxy_parse(shorter, header.size, &again) == 1 && again.size == header.size);
        require(proxy_parse(shorter, header.size - 1, &again) == 0);
        free(shorter);
    }
    free(copy);
    return 0;
}
