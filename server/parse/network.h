/* Addresses and networks in text, as operators and proxies write them: "192.0.2.7", "10.0.0.0/8",
   "2001:db8::/32" (RFC 4632, section 3.1; RFC 4291, section 2.3). IPv4 is kept as IPv4-mapped IPv6, so that
   both are compared alike. */
#ifndef PARSE_NETWORK_H
#define PARSE_NETWORK_H

#include <cloudgate.h>
#include <stdbool.h>
#include <stdint.h>

struct address {
    uint8_t bytes[16];
};

#define NETWORKS_MAX 64 /* in a list */

struct network {
    struct address address;
    unsigned bits; /* of the 128 that count */
};

/* 0 or -EINVAL. */
int address_parse(cg_str text, struct address *ret_address);
/* An address alone is a network of one. Bits beyond the prefix must be zero: -EINVAL, as for nonsense. */
int network_parse(cg_str text, struct network *ret_network);
/* Separated by commas, blanks around them. How many; -EINVAL, and *ret_bad is the first that is wrong;
 * -E2BIG. */
int networks_parse(const char *text, struct network ret_networks[NETWORKS_MAX], cg_str *ret_bad);
bool network_contains(const struct network *network, const struct address *address);

#endif
