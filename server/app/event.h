/* The server's side of a cg_event: the one request a function is called with, and its answer. */
#ifndef APP_EVENT_H
#define APP_EVENT_H

#include "app/answer.h"
#include "app/router.h"

#include <jansson.h>
#include <setjmp.h>

#define EVENT_MAX_PAIRS 100000 /* in a query or a urlencoded body */

struct event {
    cg_event public; /* first: a cg_event * is a struct event * */
    struct arena *arena;
    struct answer answer;
    const struct action *action;
    json_t *json; /* the body, once asked for */
    bool json_tried;
    json_error_t json_error;
    bool socket;     /* a WebSocket's: it has no answer */
    bool holds_lock; /* of shared memory: released when the event ends */
    int verdict;     /* of the .upgrade hook */
    bool accepted;   /* the handshake: the event becomes that of a WebSocket */
    uint64_t owner;  /* by which such locks know it */
    jmp_buf escape;  /* where a call of the function goes on that is left in the middle */
};

static inline struct event *event_of(const cg_event *public)
{
    return (struct event *)public;
}

/* public's strings and headers are filled in; makes of them cookies and parameters. 0, or -413 for a query of
   more than EVENT_MAX_PAIRS. */
int event_parse(struct event *event, const struct match *match);
/* The locks of shared memory that the function holds. */
void event_release_locks(struct event *event);
void event_finish(struct event *event); /* and these, if that was not done */

/* Whether the Content-Type is this one (lower case), whatever its parameters. */
bool event_type_is(const struct event *event, const char *type);

/* Call the function. One that crashes, does not return, or asks for memory which is not there is left in the
   middle (see fault.h), and the answer says so: what it holds leaks, but everybody else goes on. */
void event_call_handler(struct event *event);
int event_call_body(struct event *event, const char *data, size_t len); /* what the .body hook returned */
/* Whatever else calls the function; false: it was left in the middle. */
bool event_call(struct event *event, void (*call)(void *arg), void *arg);

/* Makes of *ret_copy one that lives on without the request: the same strings and fields in one block of
   memory, which is returned and is the caller's to free. It has neither body nor files, nor an answer. */
void *event_copy(const struct event *event, struct event *ret_copy);

/* The arena's `exhausted`. Outside of the function's own call there is nowhere to go back to, and it
   returns. */
void event_exhausted(struct arena *arena);

/* Look-ups as in cloudgate.h; NULL when absent. */
const char *event_header(const struct event *event, const char *name);
cg_str event_param(struct event *event, const char *name); /* ptr NULL when absent */
json_t *event_json(struct event *event);

#endif
