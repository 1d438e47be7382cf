#include "app/message_coding.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define BITS_MIN 9
#define BITS_MAX 15
#define LEVEL 3       /* for many small messages, made on a loop */
#define MEMORY 8      /* of deflate: 128 kB */
#define KEPT_MEMORY 5 /* 16 kB */
#define PIECE_SIZE 16384
#define TAIL_SIZE 4 /* the empty block that ends each message and is not sent (section 7.2.1) */

struct message_coding {
    bool pack_keeps, unpack_keeps;
    z_stream pack[BITS_MAX - BITS_MIN + 1]; /* by window; made when first needed */
    bool packs[BITS_MAX - BITS_MIN + 1];
    z_stream unpack;
    bool unpacks;
};

struct message_coding *message_coding_create(bool pack_keeps, bool unpack_keeps)
{
    struct message_coding *coding = xzalloc(sizeof *coding);
    coding->pack_keeps = pack_keeps;
    coding->unpack_keeps = unpack_keeps;
    return coding;
}

void message_coding_destroy(struct message_coding *coding)
{
    if (coding == NULL)
        return;
    for (int i = 0; i <= BITS_MAX - BITS_MIN; i++)
        if (coding->packs[i])
            deflateEnd(&coding->pack[i]);
    if (coding->unpacks)
        inflateEnd(&coding->unpack);
    free(coding);
}

static z_stream *packer(struct message_coding *coding, int bits)
{
    const int i = bits - BITS_MIN, memory = coding->pack_keeps ? KEPT_MEMORY : MEMORY;
    if (coding->packs[i])
        return coding->pack_keeps || deflateReset(&coding->pack[i]) == Z_OK ? &coding->pack[i] : NULL;
    coding->packs[i] =
        deflateInit2(&coding->pack[i], LEVEL, Z_DEFLATED, -bits, memory, Z_DEFAULT_STRATEGY) == Z_OK;
    return coding->packs[i] ? &coding->pack[i] : NULL;
}

/* What deflateBound says for any window and memory, and the flush behind it. */
size_t message_pack_bound(size_t len)
{
    return len + len / 8 + len / 64 + 64;
}

size_t message_pack(struct message_coding *coding, int bits, const char *data, size_t len, char *out,
                    size_t size)
{
    z_stream *stream = len <= UINT32_MAX && size <= UINT32_MAX ? packer(coding, bits) : NULL;
    if (stream == NULL)
        return 0;
    stream->next_in = (Bytef *)data;
    stream->avail_in = (uInt)len;
    stream->next_out = (Bytef *)out;
    stream->avail_out = (uInt)size;
    if (deflate(stream, Z_SYNC_FLUSH) != Z_OK || stream->avail_out == 0)
        return 0;
    return size - stream->avail_out - TAIL_SIZE;
}

static z_stream *unpacker(struct message_coding *coding)
{
    if (coding->unpacks)
        return coding->unpack_keeps || inflateReset(&coding->unpack) == Z_OK ? &coding->unpack : NULL;
    coding->unpacks = inflateInit2(&coding->unpack, -BITS_MAX) == Z_OK;
    return coding->unpacks ? &coding->unpack : NULL;
}

/* A client may end its last block for good, and another one begins behind it (section 7.2.3.4). */
static int unpack_part(z_stream *stream, const char *data, size_t len, size_t limit, struct buffer *out)
{
    unsigned char piece[PIECE_SIZE];
    stream->next_in = (Bytef *)data;
    stream->avail_in = (uInt)len;
    do {
        stream->next_out = piece;
        stream->avail_out = sizeof piece;
        int result = inflate(stream, Z_SYNC_FLUSH);
        size_t made = sizeof piece - stream->avail_out;
        if (result == Z_STREAM_END)
            result = inflateReset(stream);
        if (result != Z_OK && result != Z_BUF_ERROR)
            return -EBADMSG;
        if (made > limit - out->len)
            return -EMSGSIZE;
        buffer_append(out, piece, made);
    } while (stream->avail_in > 0 || stream->avail_out == 0);
    return 0;
}

int message_unpack(struct message_coding *coding, const char *data, size_t len, size_t limit,
                   struct buffer *out)
{
    static const char tail[TAIL_SIZE] = {0, 0, (char)0xff, (char)0xff};
    z_stream *stream = unpacker(coding);
    if (stream == NULL || len > UINT32_MAX)
        return -EBADMSG;
    int error = unpack_part(stream, data, len, limit, out);
    return error != 0 ? error : unpack_part(stream, tail, sizeof tail, limit, out);
}
