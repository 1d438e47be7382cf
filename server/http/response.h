/* An answer, ready to be framed: by http1 as text, by http2 as fields. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "http/source.h"
#include "http/stream.h"
#include "http/transport.h"
#include "http/tunnel.h"

#define RESPONSE_HEAD_LIMIT (48 * 1024) /* bytes of an HTTP/1 head; a function's larger one becomes 500 */

struct response {
    int status;
    const cg_field *fields; /* names in lower case; without date, content-length and connection */
    size_t field_count;
    cg_str block; /* the same fields as HTTP/1 lines with content-length, when prebuilt; else empty */
    cg_str body;  /* immutable until the request is destroyed */
    const struct source *source; /* in the place of body, when that is not one piece of memory; else NULL */
    struct stream *stream;       /* in the place of both: its length is not known before its end; else NULL */
    struct tunnel *tunnel;       /* begins with it, in the place of a body; else NULL */
    bool head;                   /* the answer to HEAD: content-length tells of body, which is not sent */
    bool close;                  /* this connection ends with it */
};

/* 1xx, 204 and 304 have neither body nor content-length (RFC 9110, section 8.6). */
static inline bool response_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static inline uint64_t response_length(const struct response *response)
{
    return response->source ? response->source->len : response->body.len;
}

/* len bytes of the body from there on, and sending what the transport takes of them: as source_read and
   source_send. */
int response_read(const struct response *response, uint64_t at, char *out, size_t len);
int64_t response_send(const struct response *response, uint64_t at, struct transport *transport);

/* Upper bound of the head's bytes. */
size_t response_head_size(const struct response *response);
/* Writes the HTTP/1 head, with date, into out (response_head_size bytes) and returns its length. keep_alive:
   the connection goes on; http10: say so in words. */
size_t response_write_head(const struct response *response, const struct loop *loop, bool keep_alive,
                           bool http10, char *out);

#endif
