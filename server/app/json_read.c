#include "app/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 32

/* Walks the format as json_unpack does, up to the character where that stopped, and picks the keys of objects
   from the arguments on its way: every 's' in an object that stands where a key must be. */
static const char *key_before(const char *format, int stop, va_list args)
{
    bool object[DEPTH] = {false}, key_next[DEPTH] = {false};
    const char *key = NULL;
    int depth = 0;
    for (int i = 0; i < stop && format[i] != '\0'; i++) {
        char c = format[i];
        if (strchr(" \t\n,:!*?", c) != NULL)
            continue;
        if (c == '}' || c == ']') {
            depth -= depth > 0;
            continue;
        }
        if (c == '%') { /* the length of the string before it */
            (void)va_arg(args, size_t *);
            continue;
        }
        if (object[depth] && key_next[depth]) {
            key = va_arg(args, const char *);
            key_next[depth] = false;
            continue;
        }
        key_next[depth] = true;
        if ((c == '{' || c == '[') && depth + 1 < DEPTH) {
            depth++;
            object[depth] = key_next[depth] = c == '{';
        } else if (strchr("sbiIfFoO", c) != NULL) {
            (void)va_arg(args, void *);
        }
    }
    return key;
}

int json_read(json_t *json, char error[JSON_READ_ERROR_SIZE], const char *format, va_list args)
{
    json_error_t reason;
    va_list again;
    va_copy(again, args);
    int result = json_vunpack_ex(json, &reason, 0, format, args);
    if (result != 0) {
        const char *key = key_before(format, reason.position, again);
        bool named = key == NULL || strstr(reason.text, key) != NULL;
        snprintf(error, JSON_READ_ERROR_SIZE, "%s%s%s", named ? "" : key, named ? "" : ": ", reason.text);
    }
    va_end(again);
    return result == 0 ? 0 : -EINVAL;
}
