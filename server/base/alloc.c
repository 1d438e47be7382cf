#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAPACITY 16 /* of an array that grows */

void alloc_abort(void)
{
    static const char text[] = "cloudgate: out of memory\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        abort();
    abort();
}

static void *checked(void *ptr)
{
    if (ptr == NULL)
        alloc_abort();
    return ptr;
}

void *xalloc(size_t size)
{
    return checked(malloc(size ? size : 1));
}

void *xzalloc(size_t size)
{
    return checked(calloc(1, size ? size : 1));
}

void *xrealloc(void *ptr, size_t size)
{
    return checked(realloc(ptr, size ? size : 1));
}

void *xgrow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity > 0 ? 2 * *capacity : FIRST_CAPACITY;
    return xrealloc(items, *capacity * size);
}

char *xstrdup(const char *text)
{
    return checked(strdup(text));
}

char *xstrndup(const char *text, size_t len)
{
    char *copy = xalloc(len + 1);
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *xsprintf(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return checked(text);
}
