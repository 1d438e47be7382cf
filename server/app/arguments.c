#include "app/arguments.h"

#include "base/alloc.h"
#include "base/buffer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void arguments_finish(struct arguments *arguments)
{
    if (arguments == NULL)
        return;
    for (size_t i = 0; i < arguments->count; i++)
        free(arguments->items[i]);
    free(arguments->items);
    *arguments = (struct arguments){0};
}

/* word is taken over. */
static void add(struct arguments *arguments, char *word)
{
    arguments->items =
        xgrow(arguments->items, arguments->count + 1, &arguments->capacity, sizeof *arguments->items);
    arguments->items[arguments->count++] = word;
    arguments->items[arguments->count] = NULL;
}

void arguments_add(struct arguments *arguments, const char *format, ...)
{
    struct buffer word = {0};
    va_list args;
    va_start(args, format);
    buffer_vprintf(&word, format, args);
    va_end(args);
    add(arguments, buffer_detach(&word));
}

void arguments_split(struct arguments *arguments, const char *text)
{
    static const char blanks[] = " \t\r\n";
    if (text == NULL)
        return;
    while (*(text += strspn(text, blanks)) != '\0') {
        struct buffer word = {0};
        for (; *text != '\0' && strchr(blanks, *text) == NULL; text++) {
            if (*text == '\\' && text[1] != '\0')
                text++;
            buffer_append(&word, text, 1);
        }
        add(arguments, buffer_detach(&word));
    }
}
