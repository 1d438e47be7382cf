/* Reading what tests/e2e/functions/echo.c tells about an event. */
#ifndef E2E_EVENT_H
#define E2E_EVENT_H

#include "answer.h"

/* The event of an answer, which must be 200. */
json_t *event_of(const struct answer *answer);

/* "headers", "cookies", "query_params", "path_params" or "form" must be exactly these: name, value, name,
   value... and NULL. Bytes that are no UTF-8 are written as "hex:e9". */
void event_expect_fields(json_t *event, const char *list, const char *const fields[]);
/* The first one of that name is this; NULL: there is none. */
void event_expect_field(json_t *event, const char *list, const char *name, const char *value);
void event_expect_text(json_t *event, const char *member, const char *value);
void event_expect_body(json_t *event, const void *data, size_t len);
void event_expect_file_count(json_t *event, size_t count);
/* type may be NULL: any. */
void event_expect_file(json_t *event, size_t index, const char *name, const char *filename, const char *type,
                       const void *data, size_t len);

#endif
