#include "http/response.h"

#include <stdio.h>
#include <string.h>

#define SERVER_LINE "server: cloudgate\r\n"
#define FIXED_SIZE 256 /* status line, date, content-length, connection and the empty line at most */

/* The registered names (RFC 9110, section 15, and the IANA registry), for the statuses from 200 on. */
static const char *const reasons[400] = {
    [0] = "OK",
    [1] = "Created",
    [2] = "Accepted",
    [3] = "Non-Authoritative Information",
    [4] = "No Content",
    [5] = "Reset Content",
    [6] = "Partial Content",
    [7] = "Multi-Status",
    [100] = "Multiple Choices",
    [101] = "Moved Permanently",
    [102] = "Found",
    [103] = "See Other",
    [104] = "Not Modified",
    [107] = "Temporary Redirect",
    [108] = "Permanent Redirect",
    [200] = "Bad Request",
    [201] = "Unauthorized",
    [202] = "Payment Required",
    [203] = "Forbidden",
    [204] = "Not Found",
    [205] = "Method Not Allowed",
    [206] = "Not Acceptable",
    [207] = "Proxy Authentication Required",
    [208] = "Request Timeout",
    [209] = "Conflict",
    [210] = "Gone",
    [211] = "Length Required",
    [212] = "Precondition Failed",
    [213] = "Content Too Large",
    [214] = "URI Too Long",
    [215] = "Unsupported Media Type",
    [216] = "Range Not Satisfiable",
    [217] = "Expectation Failed",
    [221] = "Misdirected Request",
    [222] = "Unprocessable Content",
    [223] = "Locked",
    [224] = "Failed Dependency",
    [225] = "Too Early",
    [226] = "Upgrade Required",
    [228] = "Precondition Required",
    [229] = "Too Many Requests",
    [231] = "Request Header Fields Too Large",
    [251] = "Unavailable For Legal Reasons",
    [300] = "Internal Server Error",
    [301] = "Not Implemented",
    [302] = "Bad Gateway",
    [303] = "Service Unavailable",
    [304] = "Gateway Timeout",
    [305] = "HTTP Version Not Supported",
    [307] = "Insufficient Storage",
    [308] = "Loop Detected",
    [311] = "Network Authentication Required",
};

const char *response_reason(int status)
{
    const char *reason = status >= 200 && status < 600 ? reasons[status - 200] : NULL;
    return reason ? reason : "Unknown";
}

size_t response_head_size(const struct response *response)
{
    size_t size = FIXED_SIZE + response->block.len;
    if (response->block.len > 0)
        return size;
    for (size_t i = 0; i < response->field_count; i++)
        size += response->fields[i].name.len + response->fields[i].value.len + 4;
    return size;
}

static char *put(char *out, const char *text, size_t len)
{
    memcpy(out, text, len);
    return out + len;
}

#define PUT(out, literal) put(out, literal, sizeof literal - 1)

static char *put_number(char *out, uint64_t number)
{
    char digits[20];
    size_t count = 0;
    do
        digits[sizeof digits - ++count] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return put(out, digits + sizeof digits - count, count);
}

static char *put_status(char *out, int status)
{
    if (status == 200)
        return PUT(out, "HTTP/1.1 200 OK\r\n");
    const char *reason = response_reason(status);
    out = PUT(out, "HTTP/1.1 ");
    out = put_number(out, (uint64_t)status);
    *out++ = ' ';
    out = put(out, reason, strlen(reason));
    return PUT(out, "\r\n");
}

static char *put_fields(char *out, const struct response *response)
{
    for (size_t i = 0; i < response->field_count; i++) {
        const cg_field *field = &response->fields[i];
        out = put(out, field->name.ptr, field->name.len);
        out = PUT(out, ": ");
        out = put(out, field->value.ptr, field->value.len);
        out = PUT(out, "\r\n");
    }
    if (!response_has_body(response->status))
        return out;
    out = PUT(out, "content-length: ");
    out = put_number(out, response_length(response));
    return PUT(out, "\r\n");
}

size_t response_write_head(const struct response *response, const struct loop *loop, bool keep_alive,
                           bool http10, char *out)
{
    char *start = out;
    out = put_status(out, response->status);
    out = PUT(out, SERVER_LINE "date: ");
    out = put(out, loop->date, sizeof loop->date - 1);
    out = PUT(out, "\r\n");
    if (response->block.len > 0)
        out = put(out, response->block.ptr, response->block.len);
    else
        out = put_fields(out, response);
    if (!keep_alive)
        out = PUT(out, "connection: close\r\n");
    else if (http10)
        out = PUT(out, "connection: keep-alive\r\n");
    out = PUT(out, "\r\n");
    return (size_t)(out - start);
}

int response_read(const struct response *response, uint64_t at, char *out, size_t len)
{
    if (response->source != NULL)
        return source_read(response->source, at, out, len);
    memcpy(out, response->body.ptr + at, len);
    return 0;
}

int64_t response_send(const struct response *response, uint64_t at, struct transport *transport)
{
    if (response->source != NULL)
        return source_send(response->source, at, transport);
    return (int64_t)transport_write(transport, response->body.ptr + at, response->body.len - at);
}
