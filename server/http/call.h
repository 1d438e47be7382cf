/* One call of a function: on the loop, on the pool, or answered later from any thread. Whoever still works on
   the event holds it: the handler while it runs, and a deferred answer until it is finished. The last one to
   let go sends the answer home through the loop's mailbox, where the client may have left meanwhile, or been
   told 504. */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "app/body.h"
#include "app/event.h"
#include "app/pool.h"
#include "base/list.h"
#include "base/mailbox.h"
#include "base/timers.h"

#include <stdatomic.h>
#include <time.h>

/* How long a finished deferred event is kept, to catch a second cg_finish. */
#define CALL_QUARANTINE_MS 10000
#define CALL_QUARANTINE_MAX 1000 /* per loop; beyond it the oldest go */

struct call;
struct loop;
struct request;
struct websocket;

/* What becomes of the answer. complete: adds what is the server's to the head, on the thread that answers.
   respond: sends it, on the loop. */
struct call_ops {
    void (*complete)(struct event *event);
    void (*respond)(struct request *request, struct event *event);
};

/* What is done, on the loop, in the place of an answer in one piece. */
struct call_way {
    void (*done)(struct call *call);   /* the function is done with the event */
    void (*left)(struct call *call);   /* its client has left: at once, perhaps before that; may be NULL */
    void (*finish)(struct call *call); /* before the event goes */
};

struct call {
    struct event event; /* first: a cg_event * is a struct call * */
    struct body body;
    struct request *request; /* NULL in quarantine */
    struct loop *loop;
    struct arena arena; /* the event's; not the loop's memory once another thread may use it */
    struct job job;
    struct mail mail;
    struct timer timer;      /* of the route's timeout */
    struct list link;        /* in the loop's quarantine */
    struct timespec created; /* on the monotonic clock; set only for SERVER_TIMING */
    int64_t released;        /* when it went there; monotonic ms */
    atomic_int holds;
    atomic_bool gone;     /* the client has left, or has been answered without the function */
    atomic_bool finished; /* by cg_finish */
    bool deferred;
    bool away;     /* not on the loop: it comes back by mail */
    bool late;     /* the client has been told 504 */
    bool unwanted; /* the protocol has no more use for the request */
    bool sent;     /* the head of the answer: no timeout any more */
    const struct call_ops *ops;
    const struct call_way *_Atomic way; /* NULL: the answer is one piece */
    void *way_data;
    struct websocket *socket; /* of a handshake; else NULL */
};

static inline struct call *call_of(const cg_event *public)
{
    return (struct call *)public;
}

/* The same of whatever a function has: NULL, and logged, when it is a WebSocket's, which has no call. */
struct call *call_in(const cg_event *public, const char *function);

/* For a request whose head is complete; ends with it. */
struct call *call_create(struct request *request);
/* Runs the handler, here or on the pool. Its answer may be sent before this returns. */
void call_start(struct call *call, const struct call_ops *ops);
/* Since its head was there. */
double call_age_ms(const struct call *call);

/* From any thread. */
void call_defer(struct call *call);
void call_finish(struct call *call);
/* Whether this is its loop's thread, in a turn of its connection: what is sent now leaves with that. */
bool call_in_turn(const struct call *call);
/* On the loop: sends the head, from a turn or not, unless nobody wants it any more. */
void call_send_head(struct call *call);
/* On the loop: there is more to send of an answer whose head may have been sent. */
void call_resume(struct call *call);

/* Before a loop ends. */
void call_empty_quarantine(struct loop *loop);

#endif
