/* Lines for the operator, on stderr: "2026-12-01T09:00:00.000Z error what happened". One write a line, so
   lines of several threads never mix; bytes that could forge or garble a line are escaped as \xNN. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <cloudgate.h>

/* Lines above this level (less urgent) are dropped; CG_INFO at start. */
void log_set_level(cg_level level);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_line(cg_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
