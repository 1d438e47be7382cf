#include "http/source.h"

#include "base/file.h"
#include "http/transport.h"

#include <errno.h>
#include <unistd.h>

struct source *source_create(struct arena *arena, size_t pieces, int fd, const struct stat *stat)
{
    struct source *source = arena_zalloc(arena, sizeof *source);
    source->pieces = arena_alloc(arena, pieces * sizeof *source->pieces);
    source->fd = fd;
    if (fd >= 0)
        source->stat = *stat;
    return source;
}

void source_finish(const struct source *source)
{
    if (source != NULL && source->fd >= 0)
        close(source->fd);
}

static void add(struct source *source, struct source_piece piece)
{
    source->pieces[source->count++] = piece;
    source->len += piece.len;
}

void source_add(struct source *source, const char *data, uint64_t len)
{
    add(source, (struct source_piece){.data = data, .len = len});
}

void source_add_file(struct source *source, uint64_t offset, uint64_t len)
{
    add(source, (struct source_piece){.offset = offset, .len = len});
}

/* What is left of the piece that holds position at. */
static struct source_piece piece_at(const struct source *source, uint64_t at)
{
    const struct source_piece *piece = source->pieces;
    while (at >= piece->len) {
        at -= piece->len;
        piece++;
    }
    return (struct source_piece){
        .data = piece->data ? piece->data + at : NULL, .offset = piece->offset + at, .len = piece->len - at};
}

static bool is_changed(const struct source *source)
{
    struct stat now;
    return fstat(source->fd, &now) < 0 || !file_is_unchanged(&now, &source->stat);
}

static int read_file(const struct source *source, uint64_t offset, char *out, size_t len)
{
    return file_read_at(source->fd, out, len, offset) != (ssize_t)len || is_changed(source) ? -EIO : 0;
}

int source_read(const struct source *source, uint64_t at, char *out, size_t len)
{
    while (len > 0) {
        struct source_piece piece = piece_at(source, at);
        size_t part = piece.len < len ? (size_t)piece.len : len;
        int error = 0;
        if (piece.data != NULL)
            memcpy(out, piece.data, part);
        else
            error = read_file(source, piece.offset, out, part);
        if (error != 0)
            return error;
        out += part;
        at += part;
        len -= part;
    }
    return 0;
}

/* Over TLS bytes have to pass through here. */
static int64_t send_encrypted(const struct source *source, struct source_piece piece,
                              struct transport *transport)
{
    if (!transport_has_room(transport))
        return 0;
    size_t len = piece.len < TRANSPORT_RESERVE_MAX ? (size_t)piece.len : TRANSPORT_RESERVE_MAX;
    char *out = transport_reserve(transport, len);
    int error = read_file(source, piece.offset, out, len);
    if (error != 0)
        return error;
    transport_commit(transport, len);
    return (int64_t)len;
}

static int64_t send_plain(const struct source *source, struct source_piece piece, struct transport *transport)
{
    int64_t sent = transport_send_file(transport, source->fd, piece.offset, piece.len);
    return sent != 0 && is_changed(source) ? -EIO : sent;
}

static int64_t send_piece(const struct source *source, struct source_piece piece, struct transport *transport)
{
    if (piece.data != NULL)
        return (int64_t)transport_write(transport, piece.data, (size_t)piece.len);
    return transport->tls != NULL ? send_encrypted(source, piece, transport)
                                  : send_plain(source, piece, transport);
}

int64_t source_send(const struct source *source, uint64_t at, struct transport *transport)
{
    uint64_t begin = at;
    while (at < source->len && !transport->lost) {
        int64_t sent = send_piece(source, piece_at(source, at), transport);
        if (sent < 0)
            return sent;
        if (sent == 0)
            break;
        at += (uint64_t)sent;
    }
    return (int64_t)(at - begin);
}
