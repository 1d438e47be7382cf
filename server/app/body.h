/* Where the body of a function's request goes while it arrives: to the function piece by piece, into a form,
   or whole into memory or a temporary file. */
#ifndef APP_BODY_H
#define APP_BODY_H

#include "app/form.h"

struct event;

struct body {
    enum { BODY_WHOLE, BODY_FORM, BODY_STREAMED } kind;
    bool begun; /* a byte has come */
    struct spool spool;
    struct form *form;
    int error; /* negative errno of the disk, for the log */
};

/* Chooses by the module's .body hook and the event's Content-Type. 0, or a negated HTTP status. */
int body_begin(struct body *body, struct event *event);
/* The next bytes: 0, or a negated HTTP status: what the function refused with, -400, -413, -507 (the disk is
   full), or -500 (another error of the disk, which body->error then holds). */
int body_take(struct body *body, struct event *event, const char *data, size_t len);
/* It is complete: fills in the event's body, form and files. */
int body_end(struct body *body, struct event *event);
void body_finish(struct body *body);

#endif
