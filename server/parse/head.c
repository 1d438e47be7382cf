#include "parse/head.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/field.h"

#define SKIPPED_MAX 4    /* bytes: two empty lines */
#define VERSION_LEN 8    /* "HTTP/1.1" */
#define LENGTH_DIGITS 18 /* can't overflow, and is more than any disk holds */

/* ---- where the head ends ---- */

/* The first line that is not empty, without its CRLF. What isn't HTTP at all is refused now: such a client
   may never send an empty line. */
static int scan_request_line(struct head_scan *scan, const char *line, size_t len)
{
    if (len == 0) {
        scan->skipped += 2;
        return scan->skipped > SKIPPED_MAX ? -400 : 0;
    }
    scan->started = true;
    if (!(byte_class(line[0]) & BYTE_TOKEN) || len < VERSION_LEN ||
        memcmp(line + len - VERSION_LEN, "HTTP/", 5) != 0)
        return -400;
    return 0;
}

/* No line end in sight: is it worth to wait for one? */
static int scan_pending(struct head_scan *scan, const char *data, size_t size, size_t limit)
{
    scan->seen = size;
    if (!scan->started && scan->line < size) {
        char first = data[scan->line];
        bool empty_line = first == '\r' && size - scan->line == 1;
        if (!(byte_class(first) & BYTE_TOKEN) && !empty_line)
            return -400;
    }
    if (size > limit)
        return scan->started ? -431 : -414;
    return 0;
}

int head_scan(const char *data, size_t size, size_t limit, struct head_scan *scan)
{
    const char *newline;
    while ((newline = memchr(data + scan->seen, '\n', size - scan->seen)) != NULL) {
        const char *line = data + scan->line;
        if (newline == line || newline[-1] != '\r')
            return -400;
        size_t len = (size_t)(newline - line) - 1;
        scan->seen = scan->line = (size_t)(newline - data) + 1;
        if (!scan->started) {
            int r = scan_request_line(scan, line, len);
            if (r < 0)
                return r;
            if (scan->line > limit)
                return -414;
        } else if (len == 0) {
            scan->len = scan->line;
            return scan->len > limit ? -431 : 1;
        } else if (++scan->lines > HEAD_MAX_FIELDS || scan->line > limit) {
            return -431;
        }
    }
    return scan_pending(scan, data, size, limit);
}

/* ---- what it says ---- */

struct parser {
    char *at, *end;
    size_t capacity; /* of head.fields */
    struct head head;
    unsigned hosts;
    bool has_absolute_host, has_length, has_coding, has_other_coding;
    bool has_close, has_keep_alive;
    bool has_expect, has_other_expect;
};

static int parse_version(struct parser *parser)
{
    const char *version = parser->at;
    if (parser->end - parser->at < VERSION_LEN + 2 || memcmp(version, "HTTP/", 5) != 0 ||
        !byte_is_digit(version[5]) || version[6] != '.' || !byte_is_digit(version[7]) || version[8] != '\r' ||
        version[9] != '\n')
        return -400;
    if (version[5] != '1' || version[7] > '1')
        return -505;
    parser->head.minor = version[7] - '0';
    parser->at += VERSION_LEN + 2;
    return 0;
}

/* "http://host/path" becomes the host, a NUL and "/path": moving the host over the slashes before it makes
   room for the NUL, and for the '/' that an empty path lacks. */
static int reduce_absolute_form(struct parser *parser, char *target, char *end)
{
    cg_str form = cg_bytes(target, (size_t)(end - target));
    size_t scheme = form.len > 8 && token_equal(cg_bytes(target, 8), "https://")  ? 8
                    : form.len > 7 && token_equal(cg_bytes(target, 7), "http://") ? 7
                                                                                  : 0;
    if (scheme == 0)
        return -400;
    char *host = target + scheme, *rest = host;
    while (rest < end && *rest != '/' && *rest != '?')
        rest++;
    size_t len = (size_t)(rest - host);
    if (len == 0 || !host_valid(cg_bytes(host, len)))
        return -400;
    host = memmove(host - 2, host, len);
    if (rest == end || *rest == '?')
        *--rest = '/';
    host[len] = '\0';
    parser->has_absolute_host = true;
    parser->head.host = cg_bytes(host, len);
    parser->head.target = cg_bytes(rest, (size_t)(end - rest));
    return 0;
}

static int parse_target(struct parser *parser)
{
    struct head *head = &parser->head;
    char *target = parser->at, *end = target;
    while (byte_class(*end) & BYTE_TARGET)
        end++;
    if (end == target || *end != ' ')
        return -400;
    *end = '\0';
    parser->at = end + 1;
    head->target = cg_bytes(target, (size_t)(end - target));
    if (target[0] != '/' && !(str_is(head->target, "*") && str_is(head->method, "OPTIONS"))) {
        int r = reduce_absolute_form(parser, target, end);
        if (r < 0)
            return r;
    }
    str_cut(head->target, '?', &head->path, &head->query);
    return 0;
}

static int parse_request_line(struct parser *parser)
{
    char *method = parser->at;
    while (byte_class(*parser->at) & BYTE_TOKEN)
        parser->at++;
    if (parser->at == method || *parser->at != ' ')
        return -400;
    parser->head.method = cg_bytes(method, (size_t)(parser->at - method));
    *parser->at++ = '\0';
    if (str_is(parser->head.method, "CONNECT"))
        return -501;
    int r = parse_target(parser);
    return r < 0 ? r : parse_version(parser);
}

static int parse_length(struct parser *parser, cg_str value)
{
    uint64_t length = 0;
    if (parser->has_length || value.len == 0 || value.len > LENGTH_DIGITS)
        return -400;
    for (size_t i = 0; i < value.len; i++) {
        if (!byte_is_digit(value.ptr[i]))
            return -400;
        length = 10 * length + (uint64_t)(value.ptr[i] - '0');
    }
    parser->has_length = true;
    parser->head.length = length;
    return 0;
}

/* RFC 9112, 6.1 and 6.3: without a final chunked nobody knows where the body ends, and chunked twice is an
   attack. An empty item is legal in lists, but here only those write one who hope that another parser reads
   it differently. */
static int parse_coding(struct parser *parser, cg_str value)
{
    bool chunked = false;
    if (parser->has_coding)
        return -400;
    parser->has_coding = true;
    for (;;) {
        const char *comma = memchr(value.ptr, ',', value.len);
        cg_str coding = blank_trim(cg_bytes(value.ptr, comma ? (size_t)(comma - value.ptr) : value.len));
        if (chunked || !field_name_valid(coding))
            return -400;
        chunked = token_equal(coding, "chunked");
        parser->has_other_coding |= !chunked;
        if (comma == NULL)
            return chunked ? 0 : -400;
        value = cg_bytes(comma + 1, value.len - (size_t)(comma - value.ptr) - 1);
    }
}

static int parse_host(struct parser *parser, cg_str value)
{
    if (parser->hosts++ > 0 || !host_valid(value))
        return -400;
    if (!parser->has_absolute_host)
        parser->head.host = value;
    return 0;
}

static int parse_connection(struct parser *parser, cg_str value)
{
    cg_str option;
    while (list_next(&value, &option)) {
        parser->has_close |= token_equal(option, "close");
        parser->has_keep_alive |= token_equal(option, "keep-alive");
    }
    return 0;
}

/* The few fields that decide about the message itself. */
static int note_field(struct parser *parser, const cg_field *field)
{
    cg_str name = field->name, value = field->value;
    switch (name.len) {
    case 4:
        return str_is(name, "host") ? parse_host(parser, value) : 0;
    case 6:
        if (str_is(name, "expect")) {
            bool known = token_equal(value, "100-continue");
            parser->has_expect |= known;
            parser->has_other_expect |= !known;
        }
        return 0;
    case 10:
        return str_is(name, "connection") ? parse_connection(parser, value) : 0;
    case 14:
        return str_is(name, "content-length") ? parse_length(parser, value) : 0;
    case 17:
        return str_is(name, "transfer-encoding") ? parse_coding(parser, value) : 0;
    default:
        return 0;
    }
}

/* The first byte that can't stand in a value. Eight at a time: a byte is suspicious when it is below 0x20 or
   is 0x7f; the table settles it, HTAB included. */
static char *value_end(char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x80 * ones;
    uint64_t word, del;
    while (end - at >= 8) {
        memcpy(&word, at, 8);
        del = word ^ 0x7f * ones;
        if ((((word - 0x20 * ones) & ~word) | ((del - ones) & ~del)) & tops)
            break;
        at += 8;
    }
    while (byte_class(*at) & BYTE_VALUE)
        at++;
    return at;
}

static int parse_field(struct parser *parser)
{
    char *name = parser->at, *at = name;
    for (uint8_t kind; (kind = byte_class(*at)) & BYTE_TOKEN; at++)
        *at = (char)(*at | (kind & BYTE_UPPER));
    if (at == name || *at != ':' || parser->head.count == parser->capacity)
        return -400;
    cg_field *field = &parser->head.fields[parser->head.count++];
    field->name = cg_bytes(name, (size_t)(at - name));
    *at++ = '\0';

    while (byte_is_blank(*at))
        at++;
    char *value = at, *stop;
    at = value_end(at, parser->end);
    if (at[0] != '\r' || at[1] != '\n')
        return -400;
    for (stop = at; stop > value && byte_is_blank(stop[-1]);)
        stop--;
    *stop = '\0';
    field->value = cg_bytes(value, (size_t)(stop - value));
    parser->at = at + 2;
    return note_field(parser, field);
}

static int conclude(struct parser *parser)
{
    struct head *head = &parser->head;
    bool http11 = head->minor == 1;
    if (http11 && parser->hosts == 0)
        return -400;
    if (parser->has_coding && (parser->has_length || !http11))
        return -400;
    if (parser->has_other_coding)
        return -501;
    if (parser->has_other_expect)
        return -417;
    if (head->host.ptr == NULL)
        head->host = STR("");
    if (parser->has_coding)
        head->body = BODY_CHUNKED;
    else if (head->length > 0)
        head->body = BODY_LENGTH;
    head->keep_alive = !parser->has_close && (http11 || parser->has_keep_alive);
    head->expect_continue = parser->has_expect && http11 && head->body != BODY_NONE;
    return 0;
}

int head_parse(char *data, const struct head_scan *scan, cg_field *fields, struct head *ret_head)
{
    struct parser parser = {
        .at = data + scan->skipped,
        .end = data + scan->len,
        .capacity = scan->lines,
        .head.fields = fields,
    };
    int r = parse_request_line(&parser);
    while (r == 0 && *parser.at != '\r')
        r = parse_field(&parser);
    if (r == 0 && parser.end - parser.at != 2)
        r = -400;
    if (r == 0)
        r = conclude(&parser);
    if (r == 0)
        *ret_head = parser.head;
    return r;
}
