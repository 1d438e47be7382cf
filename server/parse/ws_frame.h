/* Frames of WebSockets (RFC 6455, section 5), as a server reads and writes them. */
#ifndef PARSE_WS_FRAME_H
#define PARSE_WS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_FRAME_HEAD_MAX 10  /* bytes of a head that we write */
#define WS_CONTROL_MAX 125    /* bytes in a control frame */
#define WS_REASON_MAX 123     /* of those, in a close frame, beside the code */
#define WS_CLIENT_HEAD_MAX 14 /* bytes of a head that we read, with its mask */

enum ws_opcode {
    WS_CONTINUATION = 0x0,
    WS_TEXT = 0x1,
    WS_BINARY = 0x2,
    WS_CLOSE = 0x8,
    WS_PING = 0x9,
    WS_PONG = 0xa,
};

/* Of the section 7.4.1; negated where a function returns one as an error. */
enum ws_code {
    WS_NORMAL = 1000,
    WS_GOING_AWAY = 1001,
    WS_PROTOCOL_ERROR = 1002,
    WS_NO_CODE = 1005,  /* a close frame without one; never sent */
    WS_VANISHED = 1006, /* no close frame; never sent */
    WS_BAD_DATA = 1007,
    WS_TOO_LARGE = 1009,
    WS_INTERNAL = 1011,
    WS_TRY_LATER = 1013,
};

struct ws_frame {
    enum ws_opcode opcode;
    bool fin;
    bool packed; /* RSV1: the message is compressed (RFC 7692, section 6) */
    uint8_t mask[4];
    uint64_t len; /* of the payload */
};

static inline bool ws_opcode_is_control(enum ws_opcode opcode)
{
    return (opcode & 0x8) != 0;
}

/* Reads the head of a client's frame. Its size in bytes; 0: more bytes are needed; -WS_PROTOCOL_ERROR, as
   early as it shows: reserved bits and opcodes, a missing mask, a length written longer than it need be, a
   control frame that is fragmented or too long. may_pack: RSV1 has a meaning on this connection. */
int ws_frame_read(const char *data, size_t len, bool may_pack, struct ws_frame *ret_frame);

/* Writes the head of a whole message, unmasked, and returns its size. */
size_t ws_frame_write(char out[WS_FRAME_HEAD_MAX], enum ws_opcode opcode, bool packed, uint64_t len);

/* len bytes of a payload, from the byte number at on. out may be data. */
void ws_frame_unmask(char *out, const char *data, size_t len, const uint8_t mask[4], uint64_t at);

/* Whether a close frame may carry it (section 7.4.2, and the codes registered since). */
bool ws_code_valid(int code);

#endif
