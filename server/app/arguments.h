/* The words of a command line, growing at the end. */
#ifndef APP_ARGUMENTS_H
#define APP_ARGUMENTS_H

#include <stddef.h>

/* Zeroed is empty and valid. */
struct arguments {
    char **items; /* ends with NULL, once there is one */
    size_t count, capacity;
};

void arguments_finish(struct arguments *arguments);
void arguments_add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds each word of text (NULL: none), separated by blanks or line ends; a backslash takes the next byte as
   it is. */
void arguments_split(struct arguments *arguments, const char *text);

#endif
