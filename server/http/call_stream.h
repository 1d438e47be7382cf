/* Answers that go out piece by piece: cg_stream and what belongs to it. */
#ifndef HTTP_CALL_STREAM_H
#define HTTP_CALL_STREAM_H

#include "http/call.h"
#include "http/stream.h"

/* All of these from any thread, one at a time. */

/* The head is complete, and the body follows: what is written until call_flush is one piece. -EALREADY;
   -EINVAL outside of the call. */
int call_stream(struct call *call);
/* Bytes that are queued. -EINVAL: no stream; -EPIPE: the client has left; -EAGAIN: the queue is full, and
   what was written stays. */
int64_t call_flush(struct call *call);
/* Called on the loop: when there is room again, and once when the client leaves. */
void call_on_drain(struct call *call, void (*drain)(cg_event *event));
void call_on_close(struct call *call, void (*closed)(cg_event *event));

/* The body, if the answer is sent in this way; else NULL. On the loop. */
struct stream *call_body(const struct call *call);

#endif
