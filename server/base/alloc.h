/* Heap memory of small or configured sizes. Running out of it aborts here, in one place, so callers need no
   error path; a size that a client chooses must be bounded before it comes here. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

_Noreturn void alloc_abort(void); /* what happens when memory is out */
void *xalloc(size_t size);        /* not cleared */
void *xzalloc(size_t size);       /* zeroed */
void *xrealloc(void *ptr, size_t size);
/* Room for one more in an array of count items of that size: doubles *capacity when all of it is used. */
void *xgrow(void *items, size_t count, size_t *capacity, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t len);
char *xsprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
