/* Frames: what the head says of the input is what a reader gets who takes it bit by bit; and the text that
   comes out is UTF-8 or not, however it is cut. */
#include "parse/ws_frame.h"

#include "parse/utf8.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text, size_t len)
{
    struct utf8 utf8 = {0};
    const size_t cut = len > 0 ? (uint8_t)text[0] % len : 0;
    bool good =
        utf8_feed(&utf8, text, cut) && utf8_feed(&utf8, text + cut, len - cut) && utf8_is_whole(&utf8);
    require(good == utf8_valid(text, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = exact_copy(data, size);
    const char *at = copy, *end = copy + size;
    struct ws_frame frame;
    int head;
    while ((head = ws_frame_read(at, (size_t)(end - at), true, &frame)) > 0) {
        char again[WS_FRAME_HEAD_MAX];
        require(head <= WS_CLIENT_HEAD_MAX &&
                head == (int)ws_frame_write(again, frame.opcode, false, frame.len) + 4);
        for (int less = 0; less < head; less++)
            require(ws_frame_read(at, (size_t)less, true, &frame) == 0);
        require(ws_frame_read(at, (size_t)(end - at), true, &frame) == head);
        at += head;
        size_t len = (uint64_t)(end - at) < frame.len ? (size_t)(end - at) : (size_t)frame.len;
        char *text = exact_copy(at, len), *twice = exact_copy(at, len);
        ws_frame_unmask(text, at, len, frame.mask, 0);
        check_text(text, len);
        ws_frame_unmask(twice, text, len, frame.mask, 0);
        require(memcmp(twice, at, len) == 0);
        free(text);
        free(twice);
        at += len;
    }
    require(head == 0 || head == -WS_PROTOCOL_ERROR);
    free(copy);
    return 0;
}
