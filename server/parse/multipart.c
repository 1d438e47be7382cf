#include "parse/multipart.h"

#include "base/str.h"
#include "parse/bytes.h"
#include "parse/disposition.h"
#include "parse/field.h"

enum state {
    PREAMBLE, /* before the first delimiter: ignored */
    CONTENT,
    DELIMITER, /* behind one: blanks, then CRLF or "--" */
    DELIMITER_LF,
    DELIMITER_DASH,
    HEAD,
    EPILOGUE, /* ignored */
};

/* ---- the boundary ---- */

/* The parameter that text begins with; *ret_rest is what comes behind its ';'. */
static bool take_parameter(cg_str text, cg_str *ret_name, cg_str *ret_value, cg_str *ret_rest)
{
    bool quoted = false;
    size_t len = 0;
    for (; len < text.len && (quoted || text.ptr[len] != ';'); len++)
        quoted ^= text.ptr[len] == '"';
    const char *equals = memchr(text.ptr, '=', len);
    *ret_rest = len < text.len ? cg_bytes(text.ptr + len + 1, text.len - len - 1) : cg_bytes(NULL, 0);
    if (equals == NULL)
        return false;
    *ret_name = blank_trim(cg_bytes(text.ptr, (size_t)(equals - text.ptr)));
    *ret_value = blank_trim(cg_bytes(equals + 1, len - (size_t)(equals - text.ptr) - 1));
    return true;
}

static bool boundary_valid(cg_str boundary)
{
    if (boundary.len == 0 || boundary.len > MULTIPART_BOUNDARY_MAX || boundary.ptr[boundary.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < boundary.len; i++)
        if (!(byte_class(boundary.ptr[i]) & BYTE_BOUNDARY))
            return false;
    return true;
}

int multipart_boundary(cg_str content_type, cg_str *ret_boundary)
{
    if (content_type.len == 0)
        return -415;
    const char *semicolon = memchr(content_type.ptr, ';', content_type.len);
    size_t len = semicolon ? (size_t)(semicolon - content_type.ptr) : content_type.len;
    if (!token_equal(blank_trim(cg_bytes(content_type.ptr, len)), "multipart/form-data"))
        return -415;
    if (semicolon == NULL)
        return -400;

    cg_str rest = cg_bytes(semicolon + 1, content_type.len - len - 1), boundary = {0}, name, value;
    while (rest.ptr != NULL) {
        if (!take_parameter(rest, &name, &value, &rest) || !token_equal(name, "boundary"))
            continue;
        if (boundary.ptr != NULL)
            return -400;
        if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
            value = cg_bytes(value.ptr + 1, value.len - 2);
        boundary = value;
    }
    if (!boundary_valid(boundary))
        return -400;
    *ret_boundary = boundary;
    return 0;
}

/* ---- the parser ---- */

/* A delimiter may come at once, without a CRLF of its own: at the very beginning, or when a part has no
   content and not even the line end that belongs to the delimiter. As if a CRLF had been there. */
static void expect_delimiter(struct multipart *multipart, enum state state)
{
    multipart->state = (unsigned char)state;
    multipart->matched = multipart->assumed = 2;
}

void multipart_init(struct multipart *multipart, cg_str boundary, const struct multipart_limits *limits,
                    const struct multipart_sink *sink, void *user)
{
    *multipart = (struct multipart){
        .limits = *limits,
        .sink = sink,
        .user = user,
        .delimiter_len = 4 + boundary.len,
    };
    expect_delimiter(multipart, PREAMBLE);
    memcpy(multipart->delimiter, "\r\n--", 4);
    memcpy(multipart->delimiter + 4, boundary.ptr, boundary.len);
}

void multipart_finish(struct multipart *multipart)
{
    if (multipart == NULL)
        return;
    buffer_finish(&multipart->head);
}

static int begin_part(struct multipart *multipart)
{
    multipart->head.len = 0;
    multipart->lines = 0;
    multipart->state = HEAD;
    return ++multipart->parts > multipart->limits.parts ? -413 : 0;
}

/* Behind a delimiter, byte by byte. RFC 2046 forbids lines in a part that begin with its delimiter, so
   anything else is not content but an error. */
static int delimiter_byte(struct multipart *multipart, char byte)
{
    switch (multipart->state) {
    case DELIMITER:
        if (byte_is_blank(byte))
            return 0;
        if (byte != '\r' && byte != '-')
            return -400;
        multipart->state = byte == '\r' ? DELIMITER_LF : DELIMITER_DASH;
        return 0;
    case DELIMITER_LF:
        return byte == '\n' ? begin_part(multipart) : -400;
    default:
        if (byte != '-')
            return -400;
        multipart->state = EPILOGUE;
        return 0;
    }
}

struct part_head {
    struct multipart_part part;
    bool has_disposition, has_type;
};

/* line[len] is its CR. Two fields that say different things about one part are refused, as in the head of a
   request. */
static int parse_line(char *line, size_t len, struct part_head *head)
{
    char *colon = memchr(line, ':', len);
    if (colon == NULL || !field_name_valid(cg_bytes(line, (size_t)(colon - line))))
        return -400;
    cg_str name = cg_bytes(line, (size_t)(colon - line));
    cg_str value = blank_trim(cg_bytes(colon + 1, len - name.len - 1));
    if (!field_value_valid(value))
        return -400;
    char *text = line + (value.ptr - line);
    text[value.len] = '\0';
    if (token_equal(name, "content-type")) {
        if (head->has_type)
            return -400;
        head->has_type = true;
        head->part.type = value;
    } else if (token_equal(name, "content-disposition")) {
        if (head->has_disposition)
            return -400;
        head->has_disposition = true;
        return disposition_parse(text, value.len, &head->part.name, &head->part.filename);
    }
    return 0;
}

/* The header is whole: lines that all end in CRLF. */
static int parse_head(struct multipart *multipart)
{
    struct part_head head = {.part = {.name = STR(""), .type = STR("")}};
    char *line = multipart->head.data, *end = line + multipart->head.len;
    while (line < end) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        int r = parse_line(line, (size_t)(newline - line) - 1, &head);
        if (r < 0)
            return r;
        line = newline + 1;
    }
    expect_delimiter(multipart, CONTENT);
    return multipart->sink->begin(multipart->user, &head.part);
}

/* Collects the header line by line; *used grows by what was taken. */
static int feed_head(struct multipart *multipart, const char *data, size_t len, size_t *used)
{
    const char *newline = memchr(data, '\n', len);
    size_t taken = newline ? (size_t)(newline - data) + 1 : len;
    struct buffer *head = &multipart->head;
    if (taken > multipart->limits.head - head->len)
        return -413;
    buffer_append(head, data, taken);
    *used += taken;
    if (newline == NULL)
        return 0;
    if (head->len < 2 || head->data[head->len - 2] != '\r')
        return -400;
    if (head->len == 2 || head->data[head->len - 3] == '\n') {
        head->len -= 2;
        return parse_head(multipart);
    }
    return ++multipart->lines > multipart->limits.lines ? -413 : 0;
}

static int emit(struct multipart *multipart, const char *data, size_t len)
{
    if (multipart->state != CONTENT || len == 0)
        return 0;
    return multipart->sink->data(multipart->user, data, len);
}

static int delimiter_found(struct multipart *multipart)
{
    bool in_part = multipart->state == CONTENT;
    multipart->matched = multipart->assumed = 0;
    multipart->state = DELIMITER;
    return in_part ? multipart->sink->end(multipart->user) : 0;
}

/* How many bytes of the delimiter, from its byte `from` on, stand at data. */
static size_t match(const struct multipart *multipart, size_t from, const char *data, size_t len)
{
    size_t count = 0;
    while (count < len && from + count < multipart->delimiter_len &&
           data[count] == multipart->delimiter[from + count])
        count++;
    return count;
}

/* The delimiter has a CR only at its front, so when a match breaks off no other can have begun inside it:
   nothing is looked at twice, and the held bytes are the delimiter's own. */
static int release_held(struct multipart *multipart)
{
    size_t from = multipart->assumed, len = multipart->matched - from;
    multipart->matched = multipart->assumed = 0;
    return emit(multipart, multipart->delimiter + from, len);
}

static int feed_content(struct multipart *multipart, const char *data, size_t len, size_t *used)
{
    size_t at = 0, count;
    if (multipart->matched > 0) {
        count = match(multipart, multipart->matched, data, len);
        bool whole = multipart->matched + count == multipart->delimiter_len;
        if (whole || count == len) {
            multipart->matched += count;
            *used += count;
            return whole ? delimiter_found(multipart) : 0;
        }
        int r = release_held(multipart);
        if (r != 0)
            return r;
        at = count;
    }
    const char *cr;
    while ((cr = memchr(data + at, '\r', len - at)) != NULL) {
        size_t start = (size_t)(cr - data);
        count = match(multipart, 0, cr, len - start);
        at = start + count;
        if (count < multipart->delimiter_len && at < len)
            continue;
        int r = emit(multipart, data, start);
        if (r != 0)
            return r;
        multipart->matched = count;
        *used += at;
        return count == multipart->delimiter_len ? delimiter_found(multipart) : 0;
    }
    *used += len;
    return emit(multipart, data, len);
}

static int feed_some(struct multipart *multipart, const char *data, size_t len, size_t *used)
{
    switch (multipart->state) {
    case PREAMBLE:
    case CONTENT:
        return feed_content(multipart, data, len, used);
    case HEAD:
        return feed_head(multipart, data, len, used);
    case EPILOGUE:
        *used += len;
        return 0;
    default:
        ++*used;
        return delimiter_byte(multipart, data[0]);
    }
}

int multipart_feed(struct multipart *multipart, const char *data, size_t len)
{
    for (size_t used = 0; multipart->error == 0 && used < len;)
        multipart->error = feed_some(multipart, data + used, len - used, &used);
    return multipart->error;
}

int multipart_end(struct multipart *multipart)
{
    if (multipart->error == 0 && multipart->state != EPILOGUE)
        multipart->error = -400;
    return multipart->error;
}
