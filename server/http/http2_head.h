/* From the fields of an HTTP/2 header block to the head of a request (RFC 9113, section 8.3), so that nothing
   above can tell which protocol it was. nghttp2 has already checked names, values and pseudo-fields one by
   one (section 8.2); here is what it leaves open, and our limits. */
#ifndef HTTP_HTTP2_HEAD_H
#define HTTP_HTTP2_HEAD_H

#include "http/request.h"

#define HTTP2_FIELD_OVERHEAD 32 /* what a field counts beside its bytes (RFC 9113, section 6.5.2) */

/* Zeroed is the start. */
struct http2_head {
    size_t size; /* of all fields so far, overhead included */
    size_t capacity;
    cg_str authority, protocol;
    uint64_t length;
    bool has_length, too_large, malformed, other_expectation;
};

/* The next field, pseudo or not; copied into the request's arena. Beyond limit (bytes) or HEAD_MAX_FIELDS
   fields are only counted. */
void http2_head_add(struct http2_head *head, struct request *request, cg_str name, cg_str value,
                    size_t limit);

/* Fills in the request. 0, or the status of the refusal; either way the request can be answered. */
int http2_head_finish(struct http2_head *head, struct request *request);

#endif
