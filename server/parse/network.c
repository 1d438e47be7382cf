#include "parse/network.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define MAPPED_BITS 96 /* of ::ffff:0:0/96 */

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

int address_parse(cg_str text, struct address *ret_address)
{
    char copy[INET6_ADDRSTRLEN];
    struct address address;
    if (text.len == 0 || text.len >= sizeof copy)
        return -EINVAL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (strlen(copy) != text.len)
        return -EINVAL;
    memcpy(address.bytes, mapped, sizeof mapped);
    if (inet_pton(AF_INET, copy, address.bytes + sizeof mapped) != 1 &&
        inet_pton(AF_INET6, copy, address.bytes) != 1)
        return -EINVAL;
    *ret_address = address;
    return 0;
}

static bool is_mapped(const struct address *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

/* Decimal, without leading zeros. */
static int parse_bits(cg_str text, unsigned most, unsigned *ret_bits)
{
    unsigned bits = 0;
    if (text.len == 0 || text.len > 3 || (text.len > 1 && text.ptr[0] == '0'))
        return -EINVAL;
    for (size_t i = 0; i < text.len; i++) {
        if (!byte_is_digit(text.ptr[i]))
            return -EINVAL;
        bits = 10 * bits + (unsigned)(text.ptr[i] - '0');
    }
    if (bits > most)
        return -EINVAL;
    *ret_bits = bits;
    return 0;
}

static bool bit_of(const struct address *address, unsigned bit)
{
    return address->bytes[bit / 8] >> (7 - bit % 8) & 1;
}

int network_parse(cg_str text, struct network *ret_network)
{
    cg_str host, bits;
    const bool has_bits = str_cut(text, '/', &host, &bits);
    struct network network = {.bits = 128};
    if (address_parse(host, &network.address) != 0)
        return -EINVAL;
    bool four = is_mapped(&network.address) && memchr(host.ptr, ':', host.len) == NULL;
    if (has_bits) {
        if (parse_bits(bits, four ? 32 : 128, &network.bits) != 0)
            return -EINVAL;
        network.bits += four ? MAPPED_BITS : 0;
    }
    for (unsigned bit = network.bits; bit < 128; bit++)
        if (bit_of(&network.address, bit))
            return -EINVAL;
    *ret_network = network;
    return 0;
}

int networks_parse(const char *text, struct network ret_networks[NETWORKS_MAX], cg_str *ret_bad)
{
    int count = 0;
    for (const char *at = text, *next; at != NULL; at = next) {
        const char *end = strchrnul(at, ',');
        cg_str one = blank_trim(cg_bytes(at, (size_t)(end - at)));
        next = *end != '\0' ? end + 1 : NULL;
        if (count == NETWORKS_MAX)
            return -E2BIG;
        if (network_parse(one, &ret_networks[count]) != 0) {
            *ret_bad = one;
            return -EINVAL;
        }
        count++;
    }
    return count;
}

bool network_contains(const struct network *network, const struct address *address)
{
    const unsigned whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->address.bytes, address->bytes, whole) != 0)
        return false;
    return rest == 0 || (network->address.bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}
