#include "reply.h"

#include "harness.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && strchr("!#$%&'*+-.^_`|~", text[i]) == NULL)
            return false;
    return len > 0;
}

/* The line must end in CRLF, and hold no other control character than TAB. */
static void check_field_line(const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line));
    ck_assert_msg(colon != NULL && is_token(line, (size_t)(colon - line)), "no field line: %.*s",
                  (int)(end - line), line);
    for (const char *c = line; c < end; c++)
        ck_assert_msg((unsigned char)*c >= 0x20 || *c == '\t', "control character %02x in %.*s",
                      (unsigned char)*c, (int)(end - line), line);
}

static void check_head(const char *head, size_t len)
{
    const char *line = strstr(head, "\r\n"), *end = head + len;
    ck_assert_msg(strncmp(head, "HTTP/1.1 ", 9) == 0 && isdigit((unsigned char)head[9]) &&
                      isdigit((unsigned char)head[10]) && isdigit((unsigned char)head[11]) && head[12] == ' ',
                  "no status line: %.*s", (int)(line - head), head);
    for (line += 2; line < end; line = strstr(line, "\r\n") + 2)
        check_field_line(line, strstr(line, "\r\n"));
}

/* The bytes of a chunked body up to its end, decoded into answer; 0 when more is needed. */
static size_t parse_chunked(const char *data, size_t len, struct answer *answer)
{
    size_t at = 0;
    for (;;) {
        const char *end = memmem(data + at, len - at, "\r\n", 2);
        char *after;
        if (end == NULL)
            return 0;
        ck_assert_msg(isxdigit((unsigned char)data[at]), "no chunk size: %.20s", data + at);
        size_t size = strtoul(data + at, &after, 16);
        ck_assert_msg(after == end, "junk after a chunk size: %.20s", data + at);
        at = (size_t)(end - data) + 2;
        if (len - at < size + 2)
            return 0;
        ck_assert_msg(memcmp(data + at + size, "\r\n", 2) == 0, "no CRLF after a chunk or trailers");
        memcpy(answer->body + answer->len, data + at, size);
        answer->len += size;
        at += size + 2;
        if (size == 0)
            return at;
    }
}

static size_t content_length(const struct answer *answer)
{
    const char *value = answer_field(answer, "content-length");
    ck_assert_uint_eq(answer_count(answer, "content-length"), 1);
    ck_assert_msg(strspn(value, "0123456789") == strlen(value) && *value != '\0', "Content-Length: %s",
                  value);
    return strtoul(value, NULL, 10);
}

static bool without_body(const struct answer *answer, const char *method)
{
    return strcmp(method, "HEAD") == 0 || answer->status < 200 || answer->status == 204 ||
           answer->status == 304;
}

/* The size of the body on the wire, or -1 when more is needed. */
static ssize_t parse_body(const char *data, size_t len, bool ended, const char *method, struct answer *answer)
{
    bool counted = answer_count(answer, "content-length") > 0;
    const char *coding = answer_field(answer, "transfer-encoding");
    ck_assert_msg(coding == NULL || !counted, "Content-Length and Transfer-Encoding\n%s", answer->head);
    if (answer->status < 200 || answer->status == 204)
        ck_assert_msg(coding == NULL && !counted, "framing where no body can be\n%s", answer->head);
    if (without_body(answer, method))
        return 0;
    if (coding != NULL) {
        ck_assert_str_eq(coding, "chunked");
        size_t used = parse_chunked(data, len, answer);
        return used == 0 ? -1 : (ssize_t)used;
    }
    if (!counted && !ended)
        return -1;
    answer->len = counted ? content_length(answer) : len;
    if (len < answer->len)
        return -1;
    memcpy(answer->body, data, answer->len);
    return (ssize_t)answer->len;
}

size_t reply_parse(const char *data, size_t len, bool ended, const char *method, struct answer **ret_answer)
{
    const char *end = len > 0 ? memmem(data, len, "\r\n\r\n", 4) : NULL;
    if (end == NULL)
        return 0;
    struct answer *answer = calloc(1, sizeof *answer);
    size_t head = (size_t)(end - data) + 4;
    ck_assert_ptr_nonnull(answer);
    answer->head = strndup(data, head - 2);
    answer->body = calloc(1, len - head + 1);
    ck_assert(answer->head != NULL && answer->body != NULL);
    ck_assert_msg(strlen(answer->head) == head - 2, "NUL in a head");
    check_head(answer->head, head - 2);
    answer->status = atoi(answer->head + 9);
    answer->version = 11;
    ssize_t body = parse_body(data + head, len - head, ended, method, answer);
    if (body < 0) {
        free(answer->head);
        free(answer->body);
        free(answer);
        return 0;
    }
    answer->body[answer->len] = '\0';
    *ret_answer = answer;
    return head + (size_t)body;
}
