#include "http/http2_frames.h"

#include "http/http2.h"

#include <nghttp2/nghttp2.h>

#define PRIORITY_SIZE 5 /* any other is an error, and nghttp2 says so */

void http2_frames_init(struct http2_frames *frames)
{
    *frames = (struct http2_frames){.left = sizeof HTTP2_PREFACE - 1};
}

static uint32_t length_of(const uint8_t *head)
{
    return (uint32_t)head[0] << 16 | (uint32_t)head[1] << 8 | head[2];
}

static int32_t stream_of(const uint8_t *in)
{
    return (int32_t)((uint32_t)(in[0] & 0x7f) << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3]);
}

/* The parent of a PRIORITY frame counts as a part of its head. */
static size_t head_size(const struct http2_frames *frames)
{
    bool priority = frames->have >= HTTP2_FRAME_HEAD && frames->head[3] == NGHTTP2_PRIORITY &&
                    length_of(frames->head) == PRIORITY_SIZE;
    return HTTP2_FRAME_HEAD + (priority ? 4 : 0);
}

bool http2_frames_take(struct http2_frames *frames, const uint8_t *data, size_t len, size_t *ret_used,
                       struct http2_frame *ret_frame)
{
    const uint8_t *head = frames->head;
    size_t used = 0;
    bool complete = false;
    if (frames->left == 0) {
        while (used < len && frames->have < head_size(frames))
            frames->head[frames->have++] = data[used++];
        complete = frames->have == head_size(frames);
    }
    if (complete) {
        bool priority = frames->have > HTTP2_FRAME_HEAD;
        *ret_frame = (struct http2_frame){.len = length_of(head),
                                          .type = head[3],
                                          .flags = head[4],
                                          .stream = stream_of(head + 5),
                                          .parent = priority ? stream_of(head + HTTP2_FRAME_HEAD) : 0};
        frames->left = ret_frame->len - (priority ? 4 : 0);
        frames->have = 0;
    }
    size_t more = len - used < frames->left ? len - used : frames->left;
    frames->left -= (uint32_t)more;
    *ret_used = used + more;
    return complete;
}
