#include "parse/chunked.h"

#include "parse/bytes.h"

enum state {
    SIZE_FIRST, /* at least one digit */
    SIZE_MORE,
    SIZE_BLANK, /* blanks are forgiven before an extension, but not at the end of the line */
    NAME_FIRST, /* of an extension */
    NAME_MORE,
    NAME_BLANK,
    VALUE_FIRST,
    VALUE_MORE,
    QUOTED,
    ESCAPED,
    QUOTED_END,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_FIRST, /* a field line, or the empty line that ends the body */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    FINAL_LF,
    DONE,
    FAILED_MALFORMED,
    FAILED_TOO_LARGE,
};

static enum state size_digit(struct chunked *chunked, int digit)
{
    if (chunked->line > CHUNKED_DIGITS_MAX)
        return FAILED_MALFORMED;
    if (chunked->left > (uint64_t)INT64_MAX >> 4)
        return FAILED_TOO_LARGE;
    chunked->left = chunked->left << 4 | (uint64_t)digit;
    return SIZE_MORE;
}

static enum state extra(struct chunked *chunked, enum state next)
{
    return ++chunked->extra > CHUNKED_EXTRA_MAX ? FAILED_TOO_LARGE : next;
}

/* Behind a size, a name or a value. */
static enum state item_end(char byte, enum state blank)
{
    return byte == '\r' ? SIZE_LF : byte == ';' ? NAME_FIRST : byte_is_blank(byte) ? blank : FAILED_MALFORMED;
}

/* *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ). Extensions mean nothing here, but a line
   that only looks like one is read differently elsewhere. */
static enum state extension(enum state state, char byte)
{
    uint8_t kind = byte_class(byte);
    switch (state) {
    case SIZE_BLANK:
        return byte == '\r' ? FAILED_MALFORMED : item_end(byte, SIZE_BLANK);
    case NAME_FIRST:
        return kind & BYTE_TOKEN ? NAME_MORE : byte_is_blank(byte) ? NAME_FIRST : FAILED_MALFORMED;
    case NAME_MORE:
        return kind & BYTE_TOKEN ? NAME_MORE : byte == '=' ? VALUE_FIRST : item_end(byte, NAME_BLANK);
    case NAME_BLANK:
        return byte == '=' ? VALUE_FIRST : byte == '\r' ? FAILED_MALFORMED : item_end(byte, NAME_BLANK);
    case VALUE_FIRST:
        return kind & BYTE_TOKEN ? VALUE_MORE
               : byte == '"'     ? QUOTED
                                 : (byte_is_blank(byte) ? VALUE_FIRST : FAILED_MALFORMED);
    case VALUE_MORE:
        return kind & BYTE_TOKEN ? VALUE_MORE : item_end(byte, SIZE_BLANK);
    case QUOTED:
        return byte == '"'         ? QUOTED_END
               : byte == '\\'      ? ESCAPED
               : kind & BYTE_VALUE ? QUOTED
                                   : FAILED_MALFORMED;
    case ESCAPED:
        return kind & BYTE_VALUE ? QUOTED : FAILED_MALFORMED;
    default: /* SIZE_MORE, QUOTED_END */
        return item_end(byte, SIZE_BLANK);
    }
}

static enum state size_line(struct chunked *chunked, char byte)
{
    enum state state = (enum state)chunked->state;
    int digit = byte_hex(byte);
    if (++chunked->line > CHUNKED_LINE_MAX)
        return FAILED_MALFORMED;
    if (state <= SIZE_MORE && digit >= 0)
        return size_digit(chunked, digit);
    if (state == SIZE_FIRST)
        return FAILED_MALFORMED;
    state = extension(state, byte);
    return state == SIZE_LF || state == FAILED_MALFORMED ? state : extra(chunked, state);
}

/* Refuses a chunk that can't fit before any of its bytes were read. */
static enum state size_known(struct chunked *chunked)
{
    uint64_t limit = chunked->limit ? chunked->limit : INT64_MAX;
    chunked->line = 0;
    if (chunked->left > limit - chunked->received)
        return FAILED_TOO_LARGE;
    chunked->received += chunked->left;
    return chunked->left > 0 ? DATA : TRAILER_FIRST;
}

static enum state trailer(struct chunked *chunked, char byte)
{
    uint8_t kind = byte_class(byte);
    if (chunked->state == TRAILER_FIRST && byte == '\r')
        return FINAL_LF;
    if (chunked->state == TRAILER_VALUE && byte == '\r')
        return TRAILER_LF;
    if (chunked->state == TRAILER_VALUE)
        return kind & BYTE_VALUE ? extra(chunked, TRAILER_VALUE) : FAILED_MALFORMED;
    if (kind & BYTE_TOKEN)
        return extra(chunked, TRAILER_NAME);
    return chunked->state == TRAILER_NAME && byte == ':' ? extra(chunked, TRAILER_VALUE) : FAILED_MALFORMED;
}

/* One byte of anything but payload. */
static enum state step(struct chunked *chunked, char byte)
{
    if (chunked->state < SIZE_LF)
        return size_line(chunked, byte);
    switch ((enum state)chunked->state) {
    case SIZE_LF:
        return byte == '\n' ? size_known(chunked) : FAILED_MALFORMED;
    case DATA_CR:
        return byte == '\r' ? DATA_LF : FAILED_MALFORMED;
    case DATA_LF:
        return byte == '\n' ? SIZE_FIRST : FAILED_MALFORMED;
    case TRAILER_FIRST:
    case TRAILER_NAME:
    case TRAILER_VALUE:
        return trailer(chunked, byte);
    case TRAILER_LF:
        return byte == '\n' ? TRAILER_FIRST : FAILED_MALFORMED;
    case FINAL_LF:
        return byte == '\n' ? DONE : FAILED_MALFORMED;
    default:
        return (enum state)chunked->state;
    }
}

static int result(const struct chunked *chunked)
{
    switch (chunked->state) {
    case DONE:
        return 1;
    case FAILED_MALFORMED:
        return -400;
    case FAILED_TOO_LARGE:
        return -413;
    default:
        return 0;
    }
}

int chunked_feed(struct chunked *chunked, const char *data, size_t size, size_t *ret_used, cg_str *ret_data)
{
    size_t used = 0, taken = 0;
    while (used < size && chunked->state < DONE && chunked->state != DATA)
        chunked->state = (uint8_t)step(chunked, data[used++]);
    const char *payload = data + used;
    if (chunked->state == DATA) {
        taken = size - used < chunked->left ? size - used : (size_t)chunked->left;
        chunked->left -= taken;
        if (chunked->left == 0)
            chunked->state = DATA_CR;
    }
    int r = result(chunked);
    if (r < 0)
        return r;
    *ret_used = used + taken;
    *ret_data = cg_bytes(payload, taken);
    return r;
}
