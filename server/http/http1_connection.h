/* What the parts of HTTP/1 share: http1.c runs the connection and takes requests in, http1_answer.c sends
   answers out. */
#ifndef HTTP_HTTP1_CONNECTION_H
#define HTTP_HTTP1_CONNECTION_H

#include "base/pace.h"
#include "http/app.h"
#include "http/request.h"
#include "parse/chunked.h"
#include "parse/head.h"

enum phase {
    PHASE_HEAD,   /* between requests, or within a head */
    PHASE_BODY,   /* a body is coming in */
    PHASE_WAIT,   /* a function works on the answer */
    PHASE_ANSWER, /* an answer is going out */
};

struct http1 {
    struct transport *transport;
    struct request *request; /* but in PHASE_HEAD */
    enum phase phase;
    enum body_kind body;
    bool redirect, head_begun, keep_alive;
    bool fresh;         /* its first bytes may still turn out to be HTTP/2 */
    bool cut_short;     /* the connection ends with this answer, though the client has not asked for that */
    bool blocked;       /* the client has not taken all of an answer */
    struct pace pace;   /* of the body, or of the answer once blocked */
    uint64_t taken;     /* by the client, as of the pace */
    uint64_t body_left; /* of BODY_LENGTH */
    struct head_scan scan;
    struct chunked chunked;
    uint64_t sent; /* bytes of the answer's body that the transport has taken */
};

static inline const struct settings *http1_settings(const struct http1 *http1)
{
    return http1->transport->loop->app->settings;
}

static inline void http1_arm(struct http1 *http1, int64_t ms)
{
    transport_deadline(http1->transport, http1->transport->loop->now + ms);
}

/* ---- http1_answer.c ---- */

extern const struct stream_ops http1_stream_ops;

/* True: the answer has been taken whole and the next request may be read. Else it goes on in `writable`, or
   the connection is closed, or no longer HTTP, and http1 freed. */
bool http1_continue(struct http1 *http1);
/* An answer waits for the client, which is timed. False: it is too slow. */
bool http1_await_client(struct http1 *http1);

#endif
