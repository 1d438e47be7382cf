#include "parse/origin.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

#include <stdio.h>
#include <string.h>

static bool ends_in(cg_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len > len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

/* The rest behind "https://", and the port that goes without saying. */
static bool take_scheme(cg_str *text, const char **ret_scheme, const char **ret_port)
{
    static const char *const schemes[][2] = {{"http://", ":80"}, {"https://", ":443"}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i][0]);
        if (text->len < len || !token_equal(cg_bytes(text->ptr, len), schemes[i][0]))
            continue;
        *text = cg_bytes(text->ptr + len, text->len - len);
        *ret_scheme = schemes[i][0];
        *ret_port = schemes[i][1];
        return true;
    }
    return false;
}

static bool write_origin(const char *scheme, cg_str host, const char *port, char out[ORIGIN_MAX])
{
    if (host.len == 0 || !host_valid(host))
        return false;
    if (ends_in(host, port))
        host.len -= strlen(port);
    else if (ends_in(host, ":"))
        host.len--;
    int len = snprintf(out, ORIGIN_MAX, "%s%.*s", scheme, (int)host.len, host.ptr);
    for (char *c = out; *c != '\0'; c++)
        *c = byte_lower(*c);
    return len < ORIGIN_MAX;
}

bool origin_normalise(cg_str text, char out[ORIGIN_MAX])
{
    const char *scheme, *port;
    return take_scheme(&text, &scheme, &port) && write_origin(scheme, text, port, out);
}

bool origin_is_of_host(cg_str origin, cg_str host)
{
    char a[ORIGIN_MAX], b[ORIGIN_MAX];
    const char *scheme, *port;
    return take_scheme(&origin, &scheme, &port) && write_origin(scheme, origin, port, a) &&
           write_origin(scheme, host, port, b) && strcmp(a, b) == 0;
}
