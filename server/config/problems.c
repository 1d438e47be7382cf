#include "config/problems.h"

void problems_add(struct problems *problems, const char *format, ...)
{
    if (problems->count++ >= PROBLEMS_MAX)
        return;
    size_t start = problems->text.len;
    va_list args;
    va_start(args, format);
    buffer_vprintf(&problems->text, format, args);
    va_end(args);
    for (size_t i = start; i < problems->text.len; i++) {
        unsigned char byte = (unsigned char)problems->text.data[i];
        if (byte < 0x20 || byte == 0x7f)
            problems->text.data[i] = '?';
    }
    buffer_text(&problems->text, "\n");
}

char *problems_detach(struct problems *problems)
{
    if (problems->count > PROBLEMS_MAX)
        buffer_printf(&problems->text, "and %d more\n", problems->count - PROBLEMS_MAX);
    if (problems->text.len > 0)
        problems->text.data[--problems->text.len] = '\0';
    problems->count = 0;
    return buffer_detach(&problems->text);
}

void problems_finish(struct problems *problems)
{
    buffer_finish(&problems->text);
    problems->count = 0;
}
