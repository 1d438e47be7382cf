#include "parse/path.h"

#include "parse/bytes.h"
#include "parse/percent.h"

#include <string.h>

/* Decodes, but for slashes ("%2F") and every '%' ("%25"): resolve decides which of those can be bare. Both
   take three bytes in and out, so the result never grows. */
static int decode(const char *raw, size_t len, char *out, size_t *ret_len)
{
    char *to = out;
    for (size_t i = 0; i < len; i++) {
        if (!(byte_class(raw[i]) & BYTE_TARGET))
            return -400;
        if (raw[i] != '%') {
            *to++ = raw[i];
            continue;
        }
        int byte = percent_byte(raw + i, len - i);
        if (byte <= 0)
            return -400;
        if (byte == '/' || byte == '%')
            to = percent_put(to, (char)byte);
        else
            *to++ = (char)byte;
        i += 2;
    }
    *ret_len = (size_t)(to - out);
    return 0;
}

static bool looks_escaped(const char *behind, size_t len)
{
    return len >= 2 && behind[0] == '2' && (byte_lower(behind[1]) == 'f' || behind[1] == '5');
}

/* Copies a segment to the left, or to its own place. */
static char *put_segment(char *to, const char *segment, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        *to++ = segment[i];
        if (segment[i] == '%' && segment[i + 1] == '2' && segment[i + 2] == '5' &&
            !looks_escaped(segment + i + 3, len - i - 3))
            i += 2;
    }
    return to;
}

/* Folds path in place, segment by segment; what is written never passes what is read. */
static int resolve(char *path, size_t len, size_t *ret_len)
{
    char *to = path, *end = path + len;
    for (char *at = path; at < end;) {
        char *segment = ++at; /* behind its slash */
        while (at < end && *at != '/')
            at++;
        size_t size = (size_t)(at - segment);
        bool dot = size == 1 && segment[0] == '.';
        bool dots = size == 2 && segment[0] == '.' && segment[1] == '.';
        if (dots) {
            if (to == path)
                return -400;
            while (*--to != '/')
                ;
        } else if (size > 0 && !dot) {
            *to++ = '/';
            to = put_segment(to, segment, size);
        }
        /* "/a/", "/a/." and "/a/b/.." all name the folder. */
        if (at == end && (size == 0 || dot || dots))
            *to++ = '/';
    }
    *to = '\0';
    *ret_len = (size_t)(to - path);
    return 0;
}

int path_normalise(const char *raw, size_t len, char *out, size_t *ret_len)
{
    size_t decoded;
    if (len == 0 || raw[0] != '/')
        return -400;
    int r = decode(raw, len, out, &decoded);
    return r < 0 ? r : resolve(out, decoded, ret_len);
}

/* Whether one of the two escapes of a normalised path stands there. */
static bool is_escape(const char *text, size_t len)
{
    return len >= 3 && text[0] == '%' && text[1] == '2' && (text[2] == 'F' || text[2] == '5');
}

size_t path_decode(const char *segment, size_t len, char *out)
{
    char *to = out;
    for (size_t i = 0; i < len; i++) {
        if (is_escape(segment + i, len - i)) {
            *to++ = (char)percent_byte(segment + i, 3);
            i += 2;
        } else {
            *to++ = segment[i];
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

cg_str path_encode(struct arena *arena, cg_str path)
{
    char *text = arena_alloc(arena, 3 * path.len + 1), *to = text;
    for (size_t i = 0; i < path.len; i++) {
        if (byte_class(path.ptr[i]) & BYTE_PATH || is_escape(path.ptr + i, path.len - i))
            *to++ = path.ptr[i];
        else
            to = percent_put(to, path.ptr[i]);
    }
    *to = '\0';
    return cg_bytes(text, (size_t)(to - text));
}

bool path_stays_below(const char *path)
{
    if (path[0] == '\0' || path[0] == '/')
        return false;
    for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return false;
    return true;
}
