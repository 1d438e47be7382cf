/* A body that its function sends piece by piece, from any thread: the queue between it and the protocol,
   which takes from it what the client has room for. */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "app/topics.h"
#include "base/list.h"
#include "base/mailbox.h"

#include <stdatomic.h>
#include <stdbool.h>

struct stream_piece {
    struct list link;
    struct mail mail; /* on its way to the loop */
    struct stream *stream;
    struct topic_frame *frame; /* whose bytes they are; NULL: its own */
    const char *data;
    size_t len;
};

/* All but queued and overrun belongs to the loop. */
struct stream {
    struct list pieces;
    struct stream_piece *urgent; /* the last such piece that has not begun to leave; NULL: there is none */
    size_t first_sent;           /* bytes of the first piece that have been taken */
    size_t ready;                /* bytes of the pieces that have not */
    atomic_size_t queued;        /* bytes handed over and not taken by the connection */
    atomic_bool overrun;         /* its writer did not care that the queue was full */
    size_t limit;                /* of queued */
    bool ended;                  /* nothing will be added any more */
    bool closed;                 /* nothing will be taken any more */
    bool drain_due;              /* on_drain has not been told since something was added */
    void (*on_drain)(struct stream *stream);
};

void stream_init(struct stream *stream, size_t limit);
void stream_close(struct stream *stream); /* what is queued is dropped, and what still comes */

/* Of a copy of the bytes; counts them as queued. NULL: out of memory. */
struct stream_piece *stream_piece_create(struct stream *stream, const void *data, size_t len);
/* The same, with a copy of head before them. */
struct stream_piece *stream_piece_join(struct stream *stream, const void *head, size_t head_len,
                                       const void *data, size_t len);
/* A reference to the frame, which is shared on this loop. */
struct stream_piece *stream_piece_share(struct stream *stream, struct topic_frame *frame);

/* On the loop. Takes the piece over. */
void stream_add(struct stream *stream, struct stream_piece *piece);
/* Before all that has not begun to leave, behind others that were urgent. */
void stream_add_urgent(struct stream *stream, struct stream_piece *piece);
/* Drops what has not begun to leave. */
void stream_cut(struct stream *stream);
void stream_end(struct stream *stream);

/* For protocols. Bytes that can be had now. */
size_t stream_available(const struct stream *stream);
/* Takes at most size bytes. */
size_t stream_take(struct stream *stream, char *out, size_t size);
/* Everything has been taken, and there will be no more. */
bool stream_is_over(const struct stream *stream);
/* After taking: lets the writer know that there is room again. It may add and end. */
void stream_tell_room(struct stream *stream);

#endif
