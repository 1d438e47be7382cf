/* Cuts what a client sends into frames (RFC 9113, section 4.1), so that each can be judged before nghttp2
   acts on it: it has a bound for few of the kinds that cost work and bring nothing. */
#ifndef HTTP_HTTP2_FRAMES_H
#define HTTP_HTTP2_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP2_FRAME_HEAD 9

struct http2_frame {
    uint32_t len;
    uint8_t type, flags;
    int32_t stream;
    int32_t parent; /* of a PRIORITY frame; else 0 */
};

struct http2_frames {
    uint32_t left; /* of the preface or a payload */
    uint8_t have, head[HTTP2_FRAME_HEAD + 4];
};

/* For a connection whose preface is still to come. */
void http2_frames_init(struct http2_frames *frames);
/* How many of the bytes (at least 1) are the preface or belong to one frame. True: with them the head of the
   frame is complete, which *ret_frame tells. */
bool http2_frames_take(struct http2_frames *frames, const uint8_t *data, size_t len, size_t *ret_used,
                       struct http2_frame *ret_frame);

#endif
