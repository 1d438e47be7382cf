#include "http/stream.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define LOW_SHARE 4 /* of the limit: with no more than this part queued, there is room again */

void stream_init(struct stream *stream, size_t limit)
{
    *stream = (struct stream){.limit = limit};
    list_init(&stream->pieces);
}

static void free_piece(struct stream_piece *piece)
{
    topic_frame_drop(piece->frame);
    free(piece);
}

void stream_close(struct stream *stream)
{
    stream->closed = true;
    list_for_each (link, &stream->pieces)
        free_piece(list_item(link, struct stream_piece, link));
    list_init(&stream->pieces);
    stream->urgent = NULL;
    stream->first_sent = stream->ready = 0;
}

struct stream_piece *stream_piece_join(struct stream *stream, const void *head, size_t head_len,
                                       const void *data, size_t len)
{
    struct stream_piece *piece = malloc(sizeof *piece + head_len + len);
    if (piece == NULL)
        return NULL;
    char *bytes = (char *)(piece + 1);
    *piece = (struct stream_piece){.stream = stream, .data = bytes, .len = head_len + len};
    if (head_len > 0)
        memcpy(bytes, head, head_len);
    if (len > 0)
        memcpy(bytes + head_len, data, len);
    atomic_fetch_add(&stream->queued, piece->len);
    return piece;
}

struct stream_piece *stream_piece_create(struct stream *stream, const void *data, size_t len)
{
    return stream_piece_join(stream, NULL, 0, data, len);
}

struct stream_piece *stream_piece_share(struct stream *stream, struct topic_frame *frame)
{
    struct stream_piece *piece = xalloc(sizeof *piece);
    *piece = (struct stream_piece){.stream = stream, .frame = frame, .data = frame->bytes, .len = frame->len};
    frame->references++;
    atomic_fetch_add(&stream->queued, frame->len);
    return piece;
}

void stream_add(struct stream *stream, struct stream_piece *piece)
{
    if (stream->closed || piece->len == 0) {
        free_piece(piece);
        return;
    }
    list_append(&stream->pieces, &piece->link);
    stream->ready += piece->len;
    stream->drain_due = true;
}

/* Where the pieces begin of which nothing has left. */
static struct list *first_waiting(struct stream *stream)
{
    return stream->first_sent > 0 ? stream->pieces.next->next : stream->pieces.next;
}

void stream_add_urgent(struct stream *stream, struct stream_piece *piece)
{
    if (stream->closed) {
        free_piece(piece);
        return;
    }
    list_append(stream->urgent ? stream->urgent->link.next : first_waiting(stream), &piece->link);
    stream->urgent = piece;
    stream->ready += piece->len;
}

void stream_cut(struct stream *stream)
{
    stream->urgent = NULL;
    for (struct list *link = first_waiting(stream), *next; link != &stream->pieces; link = next) {
        struct stream_piece *piece = list_item(link, struct stream_piece, link);
        next = link->next;
        stream->ready -= piece->len;
        atomic_fetch_sub(&stream->queued, piece->len);
        list_remove(link);
        free_piece(piece);
    }
}

void stream_end(struct stream *stream)
{
    stream->ended = true;
}

size_t stream_available(const struct stream *stream)
{
    return stream->ready;
}

size_t stream_take(struct stream *stream, char *out, size_t size)
{
    size_t taken = 0;
    while (taken < size && !list_empty(&stream->pieces)) {
        struct stream_piece *piece = list_item(stream->pieces.next, struct stream_piece, link);
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed is not in the list any more */
        size_t left = piece->len - stream->first_sent, part = left < size - taken ? left : size - taken;
        memcpy(out + taken, piece->data + stream->first_sent, part);
        if (piece == stream->urgent)
            stream->urgent = NULL;
        taken += part;
        stream->first_sent += part;
        if (part < left)
            break;
        stream->first_sent = 0;
        list_remove(&piece->link);
        free_piece(piece);
    }
    stream->ready -= taken;
    atomic_fetch_sub(&stream->queued, taken);
    return taken;
}

bool stream_is_over(const struct stream *stream)
{
    return stream->ended && list_empty(&stream->pieces);
}

void stream_tell_room(struct stream *stream)
{
    if (!stream->drain_due || stream->ended || atomic_load(&stream->queued) > stream->limit / LOW_SHARE)
        return;
    stream->drain_due = false;
    if (stream->on_drain != NULL)
        stream->on_drain(stream);
}
