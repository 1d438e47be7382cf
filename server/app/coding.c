#include "app/coding.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* the largest, with gzip's header instead of zlib's */
#define GZIP_MEMORY 8
#define PIECE_SIZE 16384
#define FAST_LIMIT (64 * 1024) /* from here on an answer gets the least effort */

const char *coding_name(enum coding coding)
{
    static const char *const names[CODING_COUNT] = {[CODING_GZIP] = "gzip", [CODING_BROTLI] = "br"};
    return names[coding];
}

size_t coding_worth(size_t len)
{
    size_t margin = len / 16 + 32; /* the fields that come with it, and the work of unpacking */
    return len < CODING_MIN_SIZE ? 0 : len - margin;
}

static int gzip_level(enum effort effort, size_t len)
{
    if (effort == EFFORT_BEST)
        return 9;
    return len < FAST_LIMIT ? 5 : 1;
}

static size_t gzip(enum effort effort, const char *data, size_t len, char *out, size_t size)
{
    z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)len, .next_out = (Bytef *)out};
    if (len > UINT32_MAX || deflateInit2(&stream, gzip_level(effort, len), Z_DEFLATED, GZIP_WINDOW,
                                         GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    stream.avail_out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
    int result = deflate(&stream, Z_FINISH);
    size_t made = stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? made : 0;
}

/* Quality 11 takes 1.5 s per MB, 9 takes 0.1 s, 5 a third of that. */
static int brotli_quality(enum effort effort, size_t len)
{
    if (effort == EFFORT_FAST)
        return len < FAST_LIMIT ? 4 : 2;
    return len <= 128 * 1024 ? 11 : len <= 1024 * 1024 ? 9 : 5;
}

static size_t brotli(enum effort effort, const char *data, size_t len, char *out, size_t size)
{
    size_t made = size;
    int window = effort == EFFORT_BEST ? BROTLI_DEFAULT_WINDOW : 18;
    bool done = BrotliEncoderCompress(brotli_quality(effort, len), window, BROTLI_MODE_GENERIC, len,
                                      (const uint8_t *)data, &made, (uint8_t *)out);
    return done ? made : 0;
}

size_t coding_pack(enum coding coding, enum effort effort, const char *data, size_t len, char *out,
                   size_t size)
{
    if (size == 0)
        return 0;
    if (coding == CODING_GZIP)
        return gzip(effort, data, len, out, size);
    return coding == CODING_BROTLI ? brotli(effort, data, len, out, size) : 0;
}

/* What is left to be found in the packed form. */
struct rest {
    const char *data;
    size_t len;
};

static bool take(struct rest *rest, const unsigned char *piece, size_t len)
{
    if (len > rest->len || memcmp(rest->data, piece, len) != 0)
        return false;
    rest->data += len;
    rest->len -= len;
    return true;
}

static bool gzip_holds(const char *packed, size_t packed_len, struct rest rest)
{
    unsigned char piece[PIECE_SIZE];
    z_stream stream = {.next_in = (Bytef *)packed, .avail_in = (uInt)packed_len};
    int result = Z_OK;
    bool same = true;
    if (packed_len > UINT32_MAX || inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return false;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        result = inflate(&stream, Z_NO_FLUSH);
        same = take(&rest, piece, sizeof piece - stream.avail_out);
    } while (same && result == Z_OK);
    bool whole = same && result == Z_STREAM_END && stream.avail_in == 0 && rest.len == 0;
    inflateEnd(&stream);
    return whole;
}

static bool brotli_holds(const char *packed, size_t packed_len, struct rest rest)
{
    unsigned char piece[PIECE_SIZE];
    const uint8_t *next = (const uint8_t *)packed;
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_ERROR;
    uint8_t *out;
    size_t room;
    bool same = true;
    if (state == NULL)
        return false;
    do {
        out = piece;
        room = sizeof piece;
        result = BrotliDecoderDecompressStream(state, &packed_len, &next, &room, &out, NULL);
        same = take(&rest, piece, sizeof piece - room);
    } while (same && result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
    BrotliDecoderDestroyInstance(state);
    return same && result == BROTLI_DECODER_RESULT_SUCCESS && packed_len == 0 && rest.len == 0;
}

bool coding_holds(enum coding coding, const char *packed, size_t packed_len, const char *data, size_t len)
{
    struct rest rest = {data, len};
    if (coding == CODING_GZIP)
        return gzip_holds(packed, packed_len, rest);
    return coding == CODING_BROTLI && brotli_holds(packed, packed_len, rest);
}
