#include "http/response.h"

#include <stdio.h>
#include <string.h>

#define SERVER_LINE "server: cloudgate\r\n"
#define FIXED_SIZE 256 /* status line, date, content-length, connection and the empty line at most */

/* The registered names (RFC 9110, section 15, and the IANA registry). */
const char *response_reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 201:
        return "Created";
    case 202:
        return "Accepted";
    case 204:
        return "No Content";
    case 206:
        return "Partial Content";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 303:
        return "See Other";
    case 304:
        return "Not Modified";
    case 307:
        return "Temporary Redirect";
    case 308:
        return "Permanent Redirect";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 406:
        return "Not Acceptable";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 410:
        return "Gone";
    case 411:
        return "Length Required";
    case 412:
        return "Precondition Failed";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 415:
        return "Unsupported Media Type";
    case 416:
        return "Range Not Satisfiable";
    case 417:
        return "Expectation Failed";
    case 421:
        return "Misdirected Request";
    case 422:
        return "Unprocessable Content";
    case 426:
        return "Upgrade Required";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 500:
        return "Internal Server Error";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    case 505:
        return "HTTP Version Not Supported";
    case 507:
        return "Insufficient Storage";
    default:
        return "Unknown";
    }
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
    out = put_number(out, response->body.len);
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
