/* Bytes on the heap that grow at the end. A zeroed buffer is empty and valid. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

struct buffer {
    char *data; /* NULL as long as nothing was appended; else terminated by a NUL that is not counted */
    size_t len, capacity;
};

void buffer_finish(struct buffer *buffer); /* frees, and empties */
void buffer_reserve(struct buffer *buffer, size_t more);
void buffer_append(struct buffer *buffer, const void *data, size_t len);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list args);
void buffer_consume(struct buffer *buffer, size_t len); /* drops len bytes at the front */
char *buffer_detach(struct buffer *buffer);             /* the caller owns the text (never NULL); empties */

#endif
