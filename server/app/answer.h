/* What a function answers, before any protocol frames it. A mistake that could harm the client (a header that
   would inject, a status out of range) is kept as `fault` and makes the whole answer a 500. */
#ifndef APP_ANSWER_H
#define APP_ANSWER_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>

#define ANSWER_MAX_FIELDS 200 /* that a function sets */
#define ANSWER_OWN_FIELDS 8   /* that the server adds */

/* Zeroed but for the arena is an answer in which nothing was set. */
struct answer {
    struct arena *arena;
    int status; /* 0: not set */
    cg_field *fields;
    size_t field_count, field_capacity;
    char *body;
    size_t body_len, body_capacity;
    bool body_on_heap;
    bool sent;         /* its head: another answer comes too late */
    bool given;        /* by the function: what comes now is the server's own */
    const char *fault; /* what the function did wrong, for the log; NULL: nothing */
};

void answer_init(struct answer *answer, struct arena *arena);
void answer_finish(struct answer *answer); /* what lies in the arena stays */

void answer_set_status(struct answer *answer, int status);
/* name in any case. The framing fields (Content-Length, Connection...) belong to the server and are
   ignored. */
void answer_set_field(struct answer *answer, const char *name, const char *value);
void answer_add_field(struct answer *answer, const char *name, const char *value);
void answer_set_cookie(struct answer *answer, const char *name, const char *value, const char *attributes);
const cg_field *answer_field(const struct answer *answer,
                             const char *name); /* lower case; NULL when absent */

void answer_write(struct answer *answer, const void *data, size_t len);
void answer_vprintf(struct answer *answer, const char *format, va_list args);

/* Drops body and type of what was answered before; fields stay. */
void answer_begin(struct answer *answer, int status, const char *type);
/* The same, and a line of text. Nothing when the head has been sent. */
void answer_text(struct answer *answer, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void answer_fault(struct answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
