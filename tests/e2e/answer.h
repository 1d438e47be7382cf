/* An answer as a client got it, whichever way it came. */
#ifndef E2E_ANSWER_H
#define E2E_ANSWER_H

#include <jansson.h>
#include <stddef.h>

struct answer {
    int status;
    char *head; /* status line and field lines, each with CRLF */
    char *body; /* NUL-terminated */
    size_t len;
    int version; /* 10, 11, 20 */
};

/* The value of the first field of that name (any case), or NULL; how many there are; the nth, from 0. */
char *answer_field(const struct answer *answer, const char *name);
size_t answer_count(const struct answer *answer, const char *name);
char *answer_nth(const struct answer *answer, const char *name, size_t n);

/* These fail the test when it is not so. */
void answer_expect(const struct answer *answer, int status);
void answer_expect_text(const struct answer *answer, int status, const char *body);
void answer_expect_bytes(const struct answer *answer, int status, const void *body, size_t len);
void answer_expect_field(const struct answer *answer, const char *name, const char *value);
/* The body, which must be JSON. */
json_t *answer_json(const struct answer *answer);

#endif
