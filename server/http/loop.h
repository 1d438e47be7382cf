/* One event loop and all that belongs to its thread: connections, timers, buffers. Loops share nothing but
   what is immutable, reached through `app`. */
#ifndef HTTP_LOOP_H
#define HTTP_LOOP_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/list.h"
#include "base/mailbox.h"
#include "base/timers.h"
#include "http/hangups.h"

#include <h2o.h>
#include <stdbool.h>

#define LOOP_BUFFER_SIZE (64 * 1024)

struct app;
struct files;
struct transport;
struct websockets;

/* What has happened on a loop; written by its thread only. */
struct loop_counts {
    uint64_t accepted; /* connections */
    uint64_t requests; /* heads understood */
    uint64_t head_timeouts, body_timeouts, write_timeouts, idle_closes;
    uint64_t slow_streams;                   /* ended because the client did not take them fast enough */
    uint64_t http2_floods;                   /* HTTP/2 connections ended because they cost too much */
    uint64_t websockets, websocket_messages; /* opened; taken in */
    uint64_t websockets_lost;                /* that did not answer a ping */
    uint64_t websocket_overflows; /* messages that a client was too slow for, whatever the rule for that */
    uint64_t refused[200];        /* by status - 400 */
};

/* Something to be done on the loop before it waits again. A zeroed one is not due. */
struct loop_task {
    struct list link;
    void (*run)(struct loop_task *task);
};

struct loop {
    h2o_loop_t *h2o;
    h2o_socket_t *mail_socket;
    struct hangups hangups;
    const struct app *app;
    struct files *files; /* the newest table of public/ that it was told of */
    unsigned index;
    bool stopping; /* the server, not just its worker */
    bool draining; /* no new requests on kept-alive connections */
    bool leaving;  /* loop_run returns once no connection is left */
    struct mailbox mailbox;
    struct timers timers;
    struct arena_pool arenas;
    uint64_t next_id; /* of requests and lock owners: unique in the process */
    int64_t now;      /* monotonic ms, of this turn */
    bool awake;       /* now has been read since the last wait */
    int64_t second;   /* since 1970, of date */
    char date[30];    /* of this second: "Sun, 06 Nov 1994 08:49:37 GMT" */

    struct list transports;
    struct list quarantine; /* calls that were finished later; see call.h */
    size_t quarantine_count;
    struct timer quarantine_timer;
    struct list alarms; /* that functions have set; see alarms.h */
    size_t alarm_count;
    int64_t last_alarm;   /* id */
    size_t away_count;    /* calls that other threads are working on */
    struct buffer access; /* lines of the access log */
    struct timer access_timer;
    struct list due;               /* tasks */
    struct websockets *websockets; /* NULL: there has been none */
    size_t transport_count;
    struct loop_counts counts;
    char *input; /* LOOP_BUFFER_SIZE: what one recv brings, of whichever connection has its turn */
    char *plain; /* the same, decrypted */
    struct {     /* what the connection that has its turn wants to send: joined here, sent once */
        struct transport *owner;
        size_t len;
        char *data; /* LOOP_BUFFER_SIZE */
    } output;
};

int loop_init(struct loop *loop, unsigned index, const struct app *app); /* 0 or a negative errno */
void loop_finish(struct loop *loop);
/* First of all in whatever the event loop calls: brings now up to date, once a turn. After a long wait it
   would else be that of before, and each deadline counted from it already over. */
void loop_wake(struct loop *loop);
/* On the loop's thread. The task runs once, however often it is asked for until then. */
void loop_soon(struct loop *loop, struct loop_task *task);
/* Until loop_leave was called and the last connection has ended. */
void loop_run(struct loop *loop);
/* The calling thread is the loop's from now on. */
void loop_enter(struct loop *loop);
/* The one whose thread this is; NULL: none. */
struct loop *loop_current(void);
/* On the loop's thread: lets connections finish what has begun, and take nothing new. */
void loop_leave(struct loop *loop);
/* Counts an answer of the server itself, if its status is one of those that are. */
void loop_count_refusal(struct loop *loop, int status);
/* Brings date up to the current second. */
void loop_update_date(struct loop *loop);

#endif
