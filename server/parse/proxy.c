#include "parse/proxy.h"

#include "base/str.h"
#include "parse/bytes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#define V1_MAX 107 /* the line, CRLF included */
#define V2_HEAD 16
#define V2_LOCAL 0x20
#define V2_PROXY 0x21
#define V2_TCP4 0x11
#define V2_TCP6 0x21
#define V2_TCP4_SIZE 12 /* of both addresses and ports */
#define V2_TCP6_SIZE 36

static const char v1_start[] = "PROXY ";
static const char v2_start[] = "\r\n\r\n\0\r\nQUIT\n";

static bool begins_with(const char *data, size_t len, const char *start, size_t start_len)
{
    return memcmp(data, start, len < start_len ? len : start_len) == 0;
}

/* ---- version 1: a line of text ---- */

static bool is_address(cg_str text, int family, char out[PROXY_IP_SIZE])
{
    struct in6_addr address; /* large enough for either */
    if (text.len == 0 || text.len >= PROXY_IP_SIZE || memchr(text.ptr, '\0', text.len) != NULL)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return inet_pton(family, out, &address) == 1 && inet_ntop(family, &address, out, PROXY_IP_SIZE) != NULL;
}

static bool is_port(cg_str text)
{
    unsigned port = 0;
    if (text.len == 0 || text.len > 5 || (text.len > 1 && text.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!byte_is_digit(text.ptr[i]))
            return false;
        port = 10 * port + (unsigned)(text.ptr[i] - '0');
    }
    return port <= UINT16_MAX;
}

static int parse_line(cg_str line, struct proxy_header *header)
{
    char other[PROXY_IP_SIZE];
    cg_str kind, source, target, from;
    str_cut(line, ' ', &kind, &line);
    if (str_is(kind, "UNKNOWN"))
        return 1;
    if (!str_is(kind, "TCP4") && !str_is(kind, "TCP6"))
        return -EINVAL;
    const int family = kind.ptr[3] == '4' ? AF_INET : AF_INET6;
    str_cut(line, ' ', &source, &line);
    str_cut(line, ' ', &target, &line);
    str_cut(line, ' ', &from, &line);
    if (!is_address(source, family, header->ip) || !is_address(target, family, other) || !is_port(from) ||
        !is_port(line))
        return -EINVAL;
    header->known = true;
    return 1;
}

static int parse_v1(const char *data, size_t len, struct proxy_header *header)
{
    const size_t start = sizeof v1_start - 1;
    const char *end = memchr(data, '\n', len < V1_MAX ? len : V1_MAX);
    if (end == NULL)
        return len < V1_MAX ? 0 : -EINVAL;
    header->size = (size_t)(end + 1 - data);
    if (header->size < start + 2 || end[-1] != '\r')
        return -EINVAL;
    return parse_line(cg_bytes(data + start, header->size - start - 2), header);
}

/* ---- version 2: binary ---- */

static int take_address(const uint8_t *block, size_t size, size_t needed, int family,
                        struct proxy_header *header)
{
    if (size < needed || inet_ntop(family, block, header->ip, sizeof header->ip) == NULL)
        return -EINVAL;
    header->known = true;
    return 1;
}

/* What else comes in the block, extensions and other families, is passed over. */
static int parse_v2(const char *data, size_t len, struct proxy_header *header)
{
    const uint8_t *in = (const uint8_t *)data;
    if (len > 12 && in[12] != V2_LOCAL && in[12] != V2_PROXY)
        return -EINVAL;
    if (len < V2_HEAD)
        return 0;
    const size_t size = (size_t)in[14] << 8 | in[15];
    header->size = V2_HEAD + size;
    if (header->size > PROXY_HEADER_MAX)
        return -EINVAL;
    if (len < header->size)
        return 0;
    if (in[12] == V2_PROXY && in[13] == V2_TCP4)
        return take_address(in + V2_HEAD, size, V2_TCP4_SIZE, AF_INET, header);
    if (in[12] == V2_PROXY && in[13] == V2_TCP6)
        return take_address(in + V2_HEAD, size, V2_TCP6_SIZE, AF_INET6, header);
    return 1;
}

int proxy_parse(const char *data, size_t len, struct proxy_header *ret_header)
{
    struct proxy_header header = {0};
    int result = 0;
    if (len > 0 && begins_with(data, len, v2_start, sizeof v2_start - 1))
        result = parse_v2(data, len, &header);
    else if (len > 0 && begins_with(data, len, v1_start, sizeof v1_start - 1))
        result = parse_v1(data, len, &header);
    else if (len > 0)
        result = -EINVAL;
    if (result == 1)
        *ret_header = header;
    return result;
}
