/* One WebSocket (RFC 6455) on a tunnel: frames in and out, its function's hooks, its end. It outlives its
   client until .close has returned, and belongs to its loop, whose thread alone may touch it; a hook that
   runs on the pool reaches it by errands (see websocket_errand.h).

   The hooks of one socket never run at the same time. What comes in while one runs on the pool has to wait,
   and so does what comes from a client that does not take what is sent to it. */
#ifndef HTTP_WEBSOCKET_H
#define HTTP_WEBSOCKET_H

#include "app/event.h"
#include "app/pool.h"
#include "app/topics.h"
#include "base/buffer.h"
#include "base/mailbox.h"
#include "base/timers.h"
#include "http/loop.h"
#include "http/tunnel.h"
#include "parse/utf8.h"
#include "parse/ws_frame.h"

#define WEBSOCKET_CLOSE_MS 5000 /* for the client's part of a closing handshake */

/* In the order in which they are called when several are due. */
enum websocket_hook {
    WEBSOCKET_NO_HOOK = 0,
    WEBSOCKET_OPEN = 1,
    WEBSOCKET_MESSAGE = 2,
    WEBSOCKET_DRAIN = 4,
    WEBSOCKET_CLOSE = 8,
};

struct message_coding;

struct websocket {
    struct tunnel tunnel; /* first */
    struct event event;   /* of the handshake: a copy, and what .upgrade has allocated */
    void *event_memory;
    struct arena kept;
    struct loop *loop;
    const struct socket_rules *rules;
    uint64_t id;
    struct list link; /* in websockets */
    struct subscriber subscriber;
    void *data;                    /* the function's */
    int bits;                      /* of the window for what we pack; 0: nothing is packed */
    struct message_coding *coding; /* the windows live on; NULL: that of the loop does */

    /* What comes in. */
    struct ws_frame frame; /* that has begun, while in_frame */
    uint64_t frame_at;     /* bytes of it that have come */
    bool in_frame;
    enum ws_opcode kind; /* of the message that has begun; WS_CONTINUATION: none has */
    bool packed;
    struct utf8 utf8;
    struct buffer message;

    /* Hooks. */
    unsigned due;
    enum websocket_hook hook; /* that runs */
    bool hook_done;           /* on the pool: it was not left in the middle */
    struct job job;
    struct mail home;
    bool taking;  /* input: the carrier sends what is added meanwhile */
    bool holding; /* the handshake is being answered: no hook may run */
    bool paused;  /* input: until the client has taken what waits for it */
    bool pressed; /* a hook was told of so much that waits that it will want to know of room */
    struct loop_task task;

    /* The end. */
    bool left;                    /* the carrier is gone */
    bool close_sent, close_taken; /* ours is on its way; theirs has come, or nothing more is read */
    int code, own_code;           /* theirs and ours; 0: none */
    char *reason;                 /* of either */
    int64_t close_by;             /* then it is cut off */
    int64_t leave_at;             /* when the worker stops; 0: it does not */

    /* Signs of life, in ms of the loop's clock. */
    struct timer timer;
    int64_t heard, used; /* the client; a message either way */
    int64_t pinged;      /* 0: nothing is awaited */
    uint64_t taken;      /* by the client, when one last looked */
};

/* For an event whose .upgrade is about to be called: until websocket_open, what that allocates is kept
   here. */
struct websocket *websocket_create(struct loop *loop, struct event *event);
/* The handshake was refused, or its client has left before it was answered. */
void websocket_discard(struct websocket *ws);
/* The handshake is about to be accepted: takes a copy of the event. websocket_begin once it was. */
void websocket_open(struct websocket *ws, const struct event *event);
void websocket_begin(struct websocket *ws);

/* Runs the hooks that are due, if it can. False: the socket has ended and is freed. */
bool websocket_run_hooks(struct websocket *ws);
/* The message in ws->message is for the function, or, while nothing has to wait, this one. */
void websocket_tell_message(struct websocket *ws, cg_str data);

/* ---- websocket_input.c ---- */

size_t websocket_input(struct tunnel *tunnel, const char *data, size_t len);

/* ---- websocket_output.c ---- */

/* A text has to be UTF-8. Bytes that wait; -EPIPE: it is closing; -EAGAIN: too much waits, and the rule for
   that was followed. */
int64_t websocket_send(struct websocket *ws, const char *data, size_t len, cg_kind kind);
void websocket_deliver(struct subscriber *subscriber, struct delivery *delivery);
/* Control frames, before all messages that have not begun to leave. */
void websocket_control(struct websocket *ws, enum ws_opcode opcode, const char *data, size_t len);
/* Our part of the closing handshake, behind all messages. The code may be WS_NO_CODE; a reason that does not
   fit is cut, one that is no UTF-8 is left out. Harmless when it is closing already. */
void websocket_close(struct websocket *ws, int code, const char *reason);
/* The same, and nothing more is read. */
void websocket_fail(struct websocket *ws, int code, const char *reason);

#endif
