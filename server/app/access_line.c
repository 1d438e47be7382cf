#include "app/access_line.h"

#include "parse/utf8.h"

#include <string.h>
#include <time.h>

static void append_number(struct buffer *out, int64_t number)
{
    char digits[20];
    size_t count = 0;
    do
        digits[sizeof digits - ++count] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    buffer_append(out, digits + sizeof digits - count, count);
}

/* Bytes from there on that stand for themselves; 0: it has to be escaped. */
static size_t harmless(const char *text, size_t len)
{
    const unsigned char byte = (unsigned char)*text;
    if (byte >= 0x80)
        return utf8_length(text, len);
    return byte >= 0x20 && byte != 0x7f && byte != '"' && byte != '\\';
}

/* Runs of harmless bytes are most of it. */
static void append_escaped(struct buffer *out, cg_str text, const char *escape)
{
    size_t from = 0, i = 0, len;
    while (i < text.len) {
        if ((len = harmless(text.ptr + i, text.len - i)) > 0) {
            i += len;
            continue;
        }
        const unsigned char byte = (unsigned char)text.ptr[i];
        buffer_append(out, text.ptr + from, i - from);
        if (byte == '"' || byte == '\\')
            buffer_printf(out, "\\%c", byte);
        else
            buffer_printf(out, escape, byte);
        from = ++i;
    }
    buffer_append(out, text.ptr + from, i - from);
}

static void append_quoted(struct buffer *out, cg_str text)
{
    if (text.ptr == NULL) {
        buffer_text(out, "\"-\"");
        return;
    }
    buffer_text(out, "\"");
    append_escaped(out, text, "\\x%02x");
    buffer_text(out, "\"");
}

static void append_member(struct buffer *out, const char *name, cg_str text)
{
    buffer_text(out, ",\"");
    buffer_text(out, name);
    buffer_text(out, "\":");
    if (text.ptr == NULL) {
        buffer_text(out, "null");
        return;
    }
    buffer_text(out, "\"");
    append_escaped(out, text, "\\u00%02x"); /* bytes that are no UTF-8 as if they were Latin-1 */
    buffer_text(out, "\"");
}

/* The last one is kept: many lines are of the same second. */
static const char *second_text(int64_t second, const char *format)
{
    static _Thread_local char text[40];
    static _Thread_local int64_t last = INT64_MIN;
    static _Thread_local const char *last_format;
    const time_t time = (time_t)second;
    struct tm parts;
    if (second != last || format != last_format)
        strftime(text, sizeof text, format, gmtime_r(&time, &parts));
    last = second;
    last_format = format;
    return text;
}

static void append_json(struct buffer *out, const struct access_entry *entry)
{
    buffer_printf(out, "{\"time\":\"%s.%03dZ\"", second_text(entry->time / 1000, "%Y-%m-%dT%H:%M:%S"),
                  (int)(entry->time % 1000));
    append_member(out, "ip", entry->ip);
    append_member(out, "method", entry->method);
    append_member(out, "target", entry->target);
    append_member(out, "version", cg_string(entry->version));
    buffer_text(out, ",\"status\":");
    append_number(out, entry->status);
    if (entry->bytes >= 0) {
        buffer_text(out, ",\"bytes\":");
        append_number(out, entry->bytes);
    }
    buffer_text(out, ",\"ms\":");
    append_number(out, entry->ms);
    append_member(out, "host", entry->host);
    append_member(out, "referer", entry->referer);
    append_member(out, "agent", entry->agent);
    append_member(out, "id", entry->id);
    buffer_text(out, "}\n");
}

static void append_request(struct buffer *out, const struct access_entry *entry)
{
    if (entry->method.ptr == NULL) {
        buffer_text(out, "\"-\"");
        return;
    }
    buffer_text(out, "\"");
    append_escaped(out, entry->method, "\\x%02x");
    buffer_text(out, " ");
    append_escaped(out, entry->target, "\\x%02x");
    buffer_text(out, " ");
    buffer_text(out, entry->version);
    buffer_text(out, "\"");
}

void access_line(struct buffer *out, enum access_format format, const struct access_entry *entry)
{
    if (format == ACCESS_JSON) {
        append_json(out, entry);
        return;
    }
    buffer_append(out, entry->ip.ptr, entry->ip.len);
    buffer_text(out, " - - [");
    buffer_text(out, second_text(entry->time / 1000, "%d/%b/%Y:%H:%M:%S +0000"));
    buffer_text(out, "] ");
    append_request(out, entry);
    buffer_text(out, " ");
    append_number(out, entry->status);
    buffer_text(out, " ");
    if (entry->bytes >= 0)
        append_number(out, entry->bytes);
    else
        buffer_text(out, "-");
    if (format == ACCESS_COMBINED) {
        buffer_text(out, " ");
        append_quoted(out, entry->referer);
        buffer_text(out, " ");
        append_quoted(out, entry->agent);
    }
    buffer_text(out, "\n");
}
