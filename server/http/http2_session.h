/* What the parts of HTTP/2 share: http2.c runs the connection, http2_input.c judges what comes and takes
   requests in, http2_stream.c keeps streams and their deadlines, http2_answer.c sends answers out. */
#ifndef HTTP_HTTP2_SESSION_H
#define HTTP_HTTP2_SESSION_H

#include "base/list.h"
#include "base/pace.h"
#include "http/http2_credit.h"
#include "http/http2_frames.h"
#include "http/http2_head.h"

#include <nghttp2/nghttp2.h>

#define HTTP2_MAX_STREAMS 100
#define HTTP2_MAX_ACKS 200    /* of PING and SETTINGS, waiting to be sent */
#define HTTP2_MAX_SETTINGS 32 /* parameters in one frame */
/* Times header_limit: a head beyond that costs the connection, not just a 431. */
#define HTTP2_HEAD_TOLERANCE 4
#define HTTP2_CLOSED_STREAMS 64 /* remembered after their end */
#define HTTP2_STREAM_WINDOW (256 * 1024)
#define HTTP2_CONNECTION_WINDOW (1024 * 1024)
#define HTTP2_DROP_LIMIT (2 * HTTP2_STREAM_WINDOW) /* bytes taken of a body that nobody wants any more */
#define HTTP2_WRITE_LOOKS 4 /* a write timeout: between them nobody says what the client has taken */

/* Who ended a stream, as far as one remembers. */
enum http2_end {
    HTTP2_END_UNKNOWN,
    HTTP2_END_CLIENT, /* it must not send on it any more */
    HTTP2_END_OURS,   /* frames may still be under way */
};

struct http2 {
    struct transport *transport;
    nghttp2_session *session;
    struct http2_frames frames;
    struct http2_credit credit;
    struct list streams;
    struct list ready; /* streams whose request is complete and not run yet */
    size_t stream_count;
    size_t receiving;                      /* streams whose request has not come whole */
    size_t sending;                        /* streams whose answer has not left whole */
    struct pace body_pace;                 /* of all bodies together, while receiving */
    struct pace send_pace;                 /* of the connection, while sending */
    uint64_t taken;                        /* by the client, as of send_pace */
    int64_t next_look;                     /* at send_pace */
    bool looked;                           /* since sending began: what was taken before is not known */
    int64_t progress;                      /* when a stream last opened or closed */
    int64_t head_since;                    /* when the unfinished head began; 0: there is none */
    uint32_t failure;                      /* the code for GOAWAY, when failed */
    int32_t last_stream;                   /* the highest that was opened */
    uint32_t closed[HTTP2_CLOSED_STREAMS]; /* a ring: 2 * id, + 1 when we ended it */
    size_t closed_count;
    bool failed, draining;
    bool busy; /* inside a call from below, which ends with settle */
};

struct http2_stream {
    struct http2 *http2;
    struct request *request; /* holds the stream in its arena */
    struct list link, ready;
    struct timer timer;
    struct pace pace; /* of the answer while sending, else of the body */
    struct http2_head head;
    uint64_t sent;    /* bytes of the answer's body */
    uint64_t mark;    /* the connection's bytes up to the last of these */
    uint64_t dropped; /* bytes of the request's body that came after the answer */
    int32_t id;
    bool begun;          /* the head is complete */
    bool receiving;      /* and the body is not */
    bool ended;          /* the client has sent END_STREAM, or RST_STREAM */
    bool sending;        /* the answer has not left whole */
    bool waiting;        /* for more of a streamed answer */
    bool stopped;        /* the client was told to send no more */
    struct buffer stash; /* what has come of a tunnel and was not taken */
};

extern const struct stream_ops http2_stream_ops;

/* After work that did not come from below: sends what it made. May free http2. */
void http2_settle(struct http2 *http2);

/* The connection ends with that code; for the result of a callback. */
int http2_fail(struct http2 *http2, uint32_t code);
/* For what brings the client no answer. 0, or the connection has failed. */
int http2_spend(struct http2 *http2, int cost);

/* ---- http2_input.c ---- */

nghttp2_session *http2_create_session(struct http2 *http2); /* NULL: out of memory */
/* Takes all of it, unless the connection fails. */
void http2_take(struct http2 *http2, const uint8_t *data, size_t len);

/* ---- http2_stream.c ---- */

void http2_stream_open(struct http2 *http2, int32_t id);
void http2_stream_close(struct http2_stream *stream);
/* The head is complete, and with it the request when `ended`. */
void http2_stream_begin(struct http2_stream *stream, bool ended);
void http2_stream_body(struct http2_stream *stream, const char *data, size_t len);
void http2_stream_end(struct http2_stream *stream);
/* The worker stops: what would go on for ever is told so. */
void http2_stream_drain(struct http2_stream *stream);
/* The client has half-closed the connection. */
void http2_stream_half_close(struct http2_stream *stream);
/* Runs the requests that are complete and were not cancelled. */
void http2_streams_run(struct http2 *http2);
/* An answer begins, proceeds, has left whole. */
void http2_stream_answer(struct http2_stream *stream);
void http2_stream_sent(struct http2_stream *stream, size_t len);
void http2_stream_answered(struct http2_stream *stream);
/* There is nothing to send for now, and no deadline. */
void http2_stream_wait(struct http2_stream *stream);
/* Gives those that have an answer to send, still, their deadlines. */
void http2_streams_watch(struct http2 *http2);
/* Refuses all requests whose bodies come too slowly together. */
void http2_streams_cut(struct http2 *http2);
/* Whether it is the connection that keeps an answer from leaving, not a window of its stream. */
bool http2_streams_stuck(const struct http2 *http2);

void http2_remember(struct http2 *http2, int32_t id, enum http2_end end);
enum http2_end http2_recall(const struct http2 *http2, int32_t id);

/* ---- http2_tunnel.c ---- */

/* The answer that has just been submitted begins a tunnel. */
void http2_tunnel_begin(struct http2_stream *stream);
/* Whether the stream's bytes are a tunnel's, or will be if that is accepted; these are then for it. */
bool http2_tunnel_takes(struct http2_stream *stream, const char *data, size_t len);
void http2_tunnel_deliver(struct http2_stream *stream);
void http2_tunnel_end(struct http2_stream *stream);
void http2_tunnel_gone(struct http2_stream *stream);

/* ---- http2_answer.c ---- */

/* A streamed answer has more to send, or its end. */
void http2_wake(struct http2_stream *stream);

/* 100 Continue. */
void http2_submit_continue(struct http2_stream *stream);

/* Callbacks of nghttp2: a frame, or the payload of a DATA frame without a copy in between. */
ssize_t http2_send(nghttp2_session *session, const uint8_t *data, size_t len, int flags, void *arg);
int http2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t len,
                    nghttp2_data_source *source, void *arg);

#endif
