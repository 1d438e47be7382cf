#include "http/response.h"

#include <string.h>

#define SERVER_LINE "server: cloudgate\r\n"
#define FIXED_SIZE 256 /* status line, date, content-length, connection and the empty line at most */

/* The registered names (RFC 9110, section 15, and the IANA registry), for the statuses from 200 on. */
static const char *const reasons[600 - 200] = {
    [200 - 200] = "OK",
    [201 - 200] = "Created",
    [202 - 200] = "Accepted",
    [203 - 200] = "Non-Authoritative Information",
    [204 - 200] = "No Content",
    [205 - 200] = "Reset Content",
    [206 - 200] = "Partial Content",
    [207 - 200] = "Multi-Status",
    [300 - 200] = "Multiple Choices",
    [301 - 200] = "Moved Permanently",
    [302 - 200] = "Found",
    [303 - 200] = "See Other",
    [304 - 200] = "Not Modified",
    [307 - 200] = "Temporary Redirect",
    [308 - 200] = "Permanent Redirect",
    [400 - 200] = "Bad Request",
    [401 - 200] = "Unauthorized",
    [402 - 200] = "Payment Required",
    [403 - 200] = "Forbidden",
    [404 - 200] = "Not Found",
    [405 - 200] = "Method Not Allowed",
    [406 - 200] = "Not Acceptable",
    [407 - 200] = "Proxy Authentication Required",
    [408 - 200] = "Request Timeout",
    [409 - 200] = "Conflict",
    [410 - 200] = "Gone",
    [411 - 200] = "Length Required",
    [412 - 200] = "Precondition Failed",
    [413 - 200] = "Content Too Large",
    [414 - 200] = "URI Too Long",
    [415 - 200] = "Unsupported Media Type",
    [416 - 200] = "Range Not Satisfiable",
    [417 - 200] = "Expectation Failed",
    [421 - 200] = "Misdirected Request",
    [422 - 200] = "Unprocessable Content",
    [423 - 200] = "Locked",
    [424 - 200] = "Failed Dependency",
    [425 - 200] = "Too Early",
    [426 - 200] = "Upgrade Required",
    [428 - 200] = "Precondition Required",
    [429 - 200] = "Too Many Requests",
    [431 - 200] = "Request Header Fields Too Large",
    [451 - 200] = "Unavailable For Legal Reasons",
    [500 - 200] = "Internal Server Error",
    [501 - 200] = "Not Implemented",
    [502 - 200] = "Bad Gateway",
    [503 - 200] = "Service Unavailable",
    [504 - 200] = "Gateway Timeout",
    [505 - 200] = "HTTP Version Not Supported",
    [507 - 200] = "Insufficient Storage",
    [508 - 200] = "Loop Detected",
    [511 - 200] = "Network Authentication Required",
};

static const char *reason_of(int status)
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
    if (status == 101)
        return PUT(out, "HTTP/1.1 101 Switching Protocols\r\n");
    const char *reason = reason_of(status);
    out = PUT(out, "HTTP/1.1 ");
    out = put_number(out, (uint64_t)status);
    *out++ = ' ';
    out = put(out, reason, strlen(reason));
    return PUT(out, "\r\n");
}

static char *put_fields(char *out, const struct response *response, bool http10)
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
    if (response->stream != NULL)
        return http10 ? out : PUT(out, "transfer-encoding: chunked\r\n");
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
        out = put_fields(out, response, http10);
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
