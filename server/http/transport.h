/* The byte stream of one connection, plain or TLS, on a socket that the loop watches for readiness.

   One recv per turn goes into the loop's buffer; what is written during a turn is joined in the loop's output
   buffer and leaves in one send when the turn ends. Only leftovers belong to a connection. A turn is one call
   from here up into the protocol (input, writable, end_of_input, timeout); a transport that is closed or lost
   during its turn is freed after it. Code that writes outside a turn ends with transport_flush. */
#ifndef HTTP_TRANSPORT_H
#define HTTP_TRANSPORT_H

#include "base/buffer.h"
#include "http/loop.h"

#include <sys/socket.h>

#define TRANSPORT_STASH_LIMIT (64 * 1024)   /* unread input kept; beyond it reading pauses */
#define TRANSPORT_PENDING_LIMIT (64 * 1024) /* output kept that the socket did not take */
#define TRANSPORT_RESERVE_MAX (48 * 1024)
#define TRANSPORT_TURN_LIMIT (1024 * 1024) /* bytes sent per connection and turn */
#define TRANSPORT_GATHER_SIZE (8 * 1024)   /* from here on a plain write goes out without being copied */
#define TRANSPORT_CLOSE_MS 30000           /* for the last pending bytes to leave */
#define TRANSPORT_LINGER_BYTES (64u << 20) /* drained after the last answer of a connection... */
#define TRANSPORT_LINGER_MS 5000 /* ...for this long at most, so that the client can read that answer */

struct tls;

/* What sits on a transport: http1 or http2. */
struct protocol {
    /* Returns how many bytes it has consumed; the others are shown again together with what comes next, or at
       transport_resume. */
    size_t (*input)(struct transport *transport, const char *data, size_t len);
    /* The client has sent FIN (or close_notify): nothing more will come, but it may still read. */
    void (*end_of_input)(struct transport *transport);
    /* There is room again after a transport_write that took less than it was given. */
    void (*writable)(struct transport *transport);
    /* The deadline has passed. */
    void (*timeout)(struct transport *transport);
    /* The worker is about to stop: finish what has begun, take nothing new. */
    void (*drain)(struct transport *transport);
    /* The connection is lost (or was closed by us): free the state. The transport must not be used any
       more. */
    void (*gone)(struct transport *transport);
};

struct transport {
    struct loop *loop;
    h2o_socket_t *socket;
    const struct protocol *protocol; /* NULL before the handshake is done and once the transport closes */
    void *state;                     /* the protocol's */
    struct tls *tls;                 /* NULL: plain */
    struct list link;                /* in loop->transports */
    struct timer timer;
    struct buffer stash;   /* input not consumed yet */
    struct buffer pending; /* output not taken by the socket yet, from pending_sent on */
    size_t pending_sent;
    size_t turn_bytes;   /* sent in this turn */
    uint64_t sent_bytes; /* taken by the socket so far */
    size_t linger_bytes; /* drained so far */
    bool in_turn, paused, reading, hang_up_watched, ended, want_writable, watching_write;
    bool closing;   /* close once pending is out */
    bool linger;    /* after that, drain before the close */
    bool lingering; /* that has begun */
    bool lost;      /* to be freed as soon as no turn is running */
    char ip[46];    /* of the peer, numeric */
};

/* Takes over fd (non-blocking). Joins loop->transports. Set protocol, then transport_start. */
struct transport *transport_create(struct loop *loop, int fd, const struct sockaddr *peer);
void transport_start(struct transport *transport);

/* Takes up to len bytes and returns how many; fewer than len means: full, `writable` will be called. The
   first TRANSPORT_PENDING_LIMIT bytes are always taken while transport_idle(). */
size_t transport_write(struct transport *transport, const void *data, size_t len);
/* Sends a part of a file on a plain connection, without its passing through here. As above; 0 or more bytes,
   or a negative errno when it can't be read or has come to its end. */
int64_t transport_send_file(struct transport *transport, int fd, uint64_t offset, uint64_t len);
/* Whether now is the time to write a piece by reserve and commit; if not, `writable` will be called when it
 * is.
 */
bool transport_has_room(struct transport *transport);
/* Room for at most size (<= TRANSPORT_RESERVE_MAX) bytes to be written in place; commit says how many were.
   To be used while transport_idle(). */
char *transport_reserve(struct transport *transport, size_t size);
void transport_commit(struct transport *transport, size_t size);
/* Whether nothing waits for the socket: a small write now will be taken whole. */
bool transport_idle(const struct transport *transport);
void transport_flush(struct transport *transport);
/* Runs act, which writes, and then the protocol's `writable`, as a turn: for answers that come from outside
   of one. */
void transport_turn(struct transport *transport, void (*act)(void *arg), void *arg);

/* Shows the stash to the protocol again, e.g. when an answer is complete and the next request may begin. */
void transport_resume(struct transport *transport);

/* When `timeout` is called, monotonic ms. Moving it to later is a store. */
void transport_deadline(struct transport *transport, int64_t deadline);
void transport_no_deadline(struct transport *transport);

/* Sends what is written, then closes. linger: first tells the client that no more will come and drains what
   it is still sending, bounded, so that it can read the last answer. `gone` is called before this returns. */
void transport_close(struct transport *transport, bool linger);
/* Drops the connection at once. `gone` is called before this returns. */
void transport_abort(struct transport *transport);
/* The same, and the kernel forgets what it still had to send. */
void transport_reset(struct transport *transport);

/* The client has reset a connection that was not read. */
void transport_hang_up(struct transport *transport);

/* The worker stops: the protocol may finish what it has begun; a handshake is not worth waiting for. */
void transport_drain(struct transport *transport);

/* For tls: decrypted bytes go up, encrypted ones go down. */
void transport_deliver(struct transport *transport, const char *data, size_t len);
void transport_deliver_end(struct transport *transport);
void transport_send(struct transport *transport, const void *data, size_t len);
/* Bytes that the client has taken so far: what waits in the kernel's queue is not counted. */
uint64_t transport_taken(const struct transport *transport);
/* Bytes that wait for the socket. */
size_t transport_pending(const struct transport *transport);

#endif
