/* What the two halves of HTTP/2 share: http2.c takes requests in, http2_answer.c sends answers out. */
#ifndef HTTP_HTTP2_SESSION_H
#define HTTP_HTTP2_SESSION_H

#include "base/list.h"
#include "http/http2_head.h"

#include <nghttp2/nghttp2.h>

#define HTTP2_MAX_STREAMS 100
#define HTTP2_MAX_ACKS 200 /* of PING and SETTINGS, waiting to be sent */
#define HTTP2_STREAM_WINDOW (256 * 1024)
#define HTTP2_CONNECTION_WINDOW (1024 * 1024)
#define HTTP2_DROP_LIMIT (2 * HTTP2_STREAM_WINDOW) /* bytes taken of a body that nobody wants any more */
#define HTTP2_CREDIT 400      /* resets, pings, settings and empty frames in a burst... */
#define HTTP2_CREDIT_PER_S 40 /* ...and for good */

struct http2 {
    struct transport *transport;
    nghttp2_session *session;
    struct list streams;
    size_t stream_count;
    size_t sending; /* streams whose answer has not left whole */
    int64_t credit, credit_since;
    int64_t progress;   /* when a stream last opened, closed, brought or took bytes */
    int64_t head_since; /* when the unfinished head began; 0: there is none */
    uint32_t failure;   /* the code for GOAWAY, when failed */
    bool failed, draining;
    bool busy; /* inside a call from below, which ends with settle */
};

struct http2_stream {
    struct http2 *http2;
    struct request *request; /* holds the stream in its arena */
    struct list link;
    struct http2_head head;
    uint64_t sent;    /* bytes of the answer's body */
    uint64_t dropped; /* bytes of the request's body that came after the answer */
    int32_t id;
    bool begun;   /* the head is complete */
    bool ended;   /* the client has sent END_STREAM */
    bool sending; /* the answer has not left whole */
    bool stopped; /* the client was told to send no more */
};

extern const struct stream_ops http2_stream_ops;

/* After work that did not come from below: sends what it made. May free http2. */
void http2_settle(struct http2 *http2);

/* 100 Continue. */
void http2_submit_continue(struct http2_stream *stream);

/* Callbacks of nghttp2: a frame, or the payload of a DATA frame without a copy in between. */
ssize_t http2_send(nghttp2_session *session, const uint8_t *data, size_t len, int flags, void *arg);
int http2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t len,
                    nghttp2_data_source *source, void *arg);

#endif
