/* Lines for the operator, on stderr: "2026-12-01T09:00:00.000Z error what happened". One write a line, so
   lines of several threads never mix; bytes that could forge or garble a line are escaped as \xNN. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <cloudgate.h>
#include <stdbool.h>

#define LOG_PAUSE_MS 10000 /* between two lines about what may happen all the time */

/* Lines above this level (less urgent) are dropped; CG_INFO at start. */
void log_set_level(cg_level level);

/* Whether LOG_PAUSE_MS have gone by since; then they begin again. *told: monotonic ms; 0: never. */
bool log_is_due(int64_t *told, int64_t now);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_line(cg_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
