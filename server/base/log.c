#include "base/log.h"

#include "base/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_SIZE 4096 /* longer lines are cut */

static cg_level most = CG_INFO;

void log_set_level(cg_level level)
{
    most = level;
}

bool log_is_due(int64_t *told, int64_t now)
{
    if (*told != 0 && now - *told < LOG_PAUSE_MS)
        return false;
    *told = now;
    return true;
}

static const char *name_of(cg_level level)
{
    switch (level) {
    case CG_ERROR:
        return "error";
    case CG_WARNING:
        return "warning";
    case CG_INFO:
        return "info";
    default:
        return "debug";
    }
}

static size_t escape(char *out, size_t size, const char *text)
{
    size_t len = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0' && len + 5 < size; c++) {
        if (*c < 0x20 || *c == 0x7f)
            len += (size_t)snprintf(out + len, size - len, "\\x%02x", *c);
        else
            out[len++] = (char)*c;
    }
    return len;
}

static void write_line(cg_level level, const char *format, va_list args)
{
    if (level > most)
        return;
    char text[LINE_SIZE], line[LINE_SIZE];
    struct tm utc;
    int error = errno;
    int64_t now = wall_ms();
    time_t seconds = (time_t)(now / 1000);
    gmtime_r(&seconds, &utc);
    size_t len = strftime(line, sizeof line, "%FT%T", &utc);
    len += (size_t)snprintf(line + len, sizeof line - len, ".%03dZ %s ", (int)(now % 1000), name_of(level));
    vsnprintf(text, sizeof text, format, args);
    len += escape(line + len, sizeof line - len - 1, text);
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        errno = error; /* nowhere left to say it */
    errno = error;
}

#define DEFINE_LEVEL(function, level)      \
    void function(const char *format, ...) \
    {                                      \
        va_list args;                      \
        va_start(args, format);            \
        write_line(level, format, args);   \
        va_end(args);                      \
    }

void log_line(cg_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(level, format, args);
    va_end(args);
}

DEFINE_LEVEL(log_error, CG_ERROR)
DEFINE_LEVEL(log_warning, CG_WARNING)
DEFINE_LEVEL(log_info, CG_INFO)
DEFINE_LEVEL(log_debug, CG_DEBUG)
