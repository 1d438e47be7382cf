/* The first byte says where the value is cut in two lines of X-Forwarded-For. */
#include "parse/forwarded.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const cg_str name = {"x-forwarded-for", 15};
    struct network trusted[2];
    struct address address;
    if (len == 0)
        return 0;
    require(network_parse(cg_string("10.0.0.0/8"), &trusted[0]) == 0);
    require(network_parse(cg_string("2001:db8::/32"), &trusted[1]) == 0);
    size_t cut = data[0] < len - 1 ? data[0] : len - 1;
    char *first = exact_copy(data + 1, cut), *second = exact_copy(data + 1 + cut, len - 1 - cut);
    const cg_field items[] = {{name, cg_bytes(first, cut)}, {name, cg_bytes(second, len - 1 - cut)}};
    cg_str client = forwarded_client(cg_string("10.0.0.1"), &(cg_fields){items, 2}, trusted, 2);
    require(address_parse(client, &address) == 0);
    free(first);
    free(second);
    return 0;
}
