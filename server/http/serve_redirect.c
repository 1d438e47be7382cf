#include "base/str.h"
#include "http/app.h"
#include "http/serve.h"

#include <string.h>

/* "[::1]:3000" and "example.org:3000" without the port. */
static cg_str host_name(cg_str host)
{
    const char *end = host.ptr + host.len;
    const char *from = host.len > 0 && host.ptr[0] == '[' ? memchr(host.ptr, ']', host.len) : host.ptr;
    const char *colon = from ? memchr(from, ':', (size_t)(end - from)) : NULL;
    return colon ? cg_bytes(host.ptr, (size_t)(colon - host.ptr)) : host;
}

/* 308 keeps the method (RFC 9110, section 15.4.9). Without a Host there is no address to send the client
   to. */
void serve_redirect(struct request *request)
{
    cg_str host = host_name(request->host);
    int port = request->loop->app->ssl_port;
    if (host.len == 0) {
        request_fail(request, 400);
        return;
    }
    cg_str location = port == 443 ? arena_printf(&request->arena, "https://%.*s%s", (int)host.len, host.ptr,
                                                 request->target.ptr)
                                  : arena_printf(&request->arena, "https://%.*s:%d%s", (int)host.len,
                                                 host.ptr, port, request->target.ptr);
    cg_field *field = arena_alloc(&request->arena, sizeof *field);
    *field = (cg_field){STR("location"), location};
    struct response response = {.status = 308, .fields = field, .field_count = 1};
    request_respond(request, &response);
}
