#include "parse/ws_frame.h"

#include <string.h>

#define FIN 0x80
#define RSV1 0x40
#define RSV23 0x30
#define OPCODE 0x0f
#define MASKED 0x80
#define LENGTH 0x7f
#define LENGTH_16 126
#define LENGTH_64 127
#define MASK_SIZE 4

static bool is_known(unsigned opcode)
{
    return opcode <= WS_BINARY || (opcode >= WS_CLOSE && opcode <= WS_PONG);
}

/* What the first two bytes tell. */
static bool begins_well(uint8_t first, uint8_t second, bool may_pack)
{
    const enum ws_opcode opcode = (enum ws_opcode)(first & OPCODE);
    if (!is_known(opcode) || (first & RSV23) != 0 || (second & MASKED) == 0)
        return false;
    if ((first & RSV1) != 0 && (!may_pack || (opcode != WS_TEXT && opcode != WS_BINARY)))
        return false;
    return !ws_opcode_is_control(opcode) || ((first & FIN) != 0 && (second & LENGTH) <= WS_CONTROL_MAX);
}

static uint64_t read_number(const uint8_t *in, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | in[i];
    return number;
}

int ws_frame_read(const char *data, size_t len, bool may_pack, struct ws_frame *ret_frame)
{
    const uint8_t *in = (const uint8_t *)data;
    if (len >= 1 && !begins_well(in[0], MASKED, may_pack))
        return -WS_PROTOCOL_ERROR;
    if (len < 2)
        return 0;
    if (!begins_well(in[0], in[1], may_pack))
        return -WS_PROTOCOL_ERROR;
    uint64_t length = in[1] & LENGTH;
    const size_t more = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
    if (len < 2 + more)
        return 0;
    if (more > 0) {
        length = read_number(in + 2, more);
        if (length < LENGTH_16 || (more == 8 && length <= UINT16_MAX) || length > INT64_MAX)
            return -WS_PROTOCOL_ERROR;
    }
    if (len < 2 + more + MASK_SIZE)
        return 0;
    *ret_frame = (struct ws_frame){.opcode = (enum ws_opcode)(in[0] & OPCODE),
                                   .fin = (in[0] & FIN) != 0,
                                   .packed = (in[0] & RSV1) != 0,
                                   .len = length};
    memcpy(ret_frame->mask, in + 2 + more, MASK_SIZE);
    return (int)(2 + more + MASK_SIZE);
}

size_t ws_frame_write(char out[WS_FRAME_HEAD_MAX], enum ws_opcode opcode, bool packed, uint64_t len)
{
    const size_t more = len > UINT16_MAX ? 8 : len > WS_CONTROL_MAX ? 2 : 0;
    out[0] = (char)(FIN | (packed ? RSV1 : 0) | opcode);
    out[1] = (char)(more == 8 ? LENGTH_64 : more == 2 ? LENGTH_16 : len);
    for (size_t i = 0; i < more; i++)
        out[2 + i] = (char)(len >> 8 * (more - 1 - i));
    return 2 + more;
}

void ws_frame_unmask(char *out, const char *data, size_t len, const uint8_t mask[4], uint64_t at)
{
    uint8_t turned[8];
    uint64_t eight, masks;
    size_t i = 0;
    for (size_t k = 0; k < sizeof turned; k++)
        turned[k] = mask[(at + k) % MASK_SIZE];
    memcpy(&masks, turned, sizeof masks);
    for (; len - i >= sizeof eight; i += sizeof eight) {
        memcpy(&eight, data + i, sizeof eight);
        eight ^= masks;
        memcpy(out + i, &eight, sizeof eight);
    }
    for (; i < len; i++)
        out[i] = (char)(data[i] ^ turned[i % MASK_SIZE]);
}

bool ws_code_valid(int code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != WS_NO_CODE && code != WS_VANISHED) ||
           (code >= 3000 && code <= 4999);
}
