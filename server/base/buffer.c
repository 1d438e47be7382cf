#include "base/buffer.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_finish(struct buffer *buffer)
{
    if (buffer == NULL)
        return;
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_reserve(struct buffer *buffer, size_t more)
{
    size_t need = buffer->len + more + 1;
    if (need <= buffer->capacity)
        return;
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    buffer->data = xrealloc(buffer->data, capacity);
    buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const void *data, size_t len)
{
    buffer_reserve(buffer, len);
    if (len > 0)
        memcpy(buffer->data + buffer->len, data, len);
    buffer->len += len;
    buffer->data[buffer->len] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    buffer_reserve(buffer, 0);
    size_t room = buffer->capacity - buffer->len;
    int len = vsnprintf(buffer->data + buffer->len, room, format, args);
    if (len >= 0 && (size_t)len >= room) {
        buffer_reserve(buffer, (size_t)len);
        vsnprintf(buffer->data + buffer->len, (size_t)len + 1, format, again);
    }
    if (len > 0)
        buffer->len += (size_t)len;
    va_end(again);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buffer_vprintf(buffer, format, args);
    va_end(args);
}

void buffer_consume(struct buffer *buffer, size_t len)
{
    if (len == 0)
        return;
    memmove(buffer->data, buffer->data + len, buffer->len - len + 1);
    buffer->len -= len;
}

char *buffer_detach(struct buffer *buffer)
{
    char *text = buffer->data ? buffer->data : xstrdup("");
    *buffer = (struct buffer){0};
    return text;
}
