#include "parse/ws_frame.h"

#include "tests/unit/suite.h"

#include <string.h>

START_TEST(heads_read_back)
{
    static const uint64_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 1u << 31, INT64_MAX};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        char head[WS_CLIENT_HEAD_MAX + 1] = {0};
        struct ws_frame frame;
        size_t size = ws_frame_write(head, WS_BINARY, false, lengths[i]);
        ck_assert_uint_eq(size, lengths[i] <= 125 ? 2 : lengths[i] <= 65535 ? 4 : 10);
        head[1] = (char)(head[1] | 0x80);
        memcpy(head + size, "\x01\x02\x03\x04", 4);
        for (size_t len = 0; len < size + 4; len++)
            ck_assert_int_eq(ws_frame_read(head, len, false, &frame), 0);
        ck_assert_int_eq(ws_frame_read(head, size + 4, false, &frame), (int)size + 4);
        ck_assert(frame.fin && !frame.packed && frame.opcode == WS_BINARY && frame.len == lengths[i]);
        ck_assert_mem_eq(frame.mask, "\x01\x02\x03\x04", 4);
    }
}
END_TEST

START_TEST(rsv1_where_it_has_a_meaning)
{
    struct ws_frame frame;
    ck_assert_int_eq(ws_frame_read("\xc1\x80\0\0\0\0", 6, true, &frame), 6);
    ck_assert(frame.packed);
    ck_assert_int_eq(ws_frame_read("\xc1\x80\0\0\0\0", 6, false, &frame), -WS_PROTOCOL_ERROR);
    ck_assert_int_eq(ws_frame_read("\xc0\x80\0\0\0\0", 6, true, &frame), -WS_PROTOCOL_ERROR);
    ck_assert_int_eq(ws_frame_read("\xc9\x80\0\0\0\0", 6, true, &frame), -WS_PROTOCOL_ERROR);
    ck_assert_int_eq(ws_frame_read("\xc9", 1, true, &frame), -WS_PROTOCOL_ERROR);
}
END_TEST

START_TEST(masks_at_any_offset)
{
    static const uint8_t mask[4] = {0xa5, 0x01, 0xff, 0x10};
    char plain[64], masked[64], out[64];
    for (size_t i = 0; i < sizeof plain; i++) {
        plain[i] = (char)(i * 7);
        masked[i] = (char)(plain[i] ^ mask[i % 4]);
    }
    for (size_t from = 0; from < 12; from++)
        for (size_t len = 0; len <= sizeof plain - from; len++) {
            memset(out, 0, sizeof out);
            ws_frame_unmask(out, masked + from, len, mask, from);
            ck_assert_int_eq(memcmp(out, plain + from, len), 0);
        }
    ws_frame_unmask(masked, masked, sizeof masked, mask, 0);
    ck_assert_mem_eq(masked, plain, sizeof plain);
}
END_TEST

START_TEST(case_63_codes)
{
    int valid = 0;
    for (int code = 0; code <= 65535; code++)
        valid += ws_code_valid(code);
    ck_assert_int_eq(valid, 12 + 2000);
    ck_assert(ws_code_valid(1000) && ws_code_valid(1014) && ws_code_valid(3000) && ws_code_valid(4999));
    ck_assert(!ws_code_valid(1004) && !ws_code_valid(1005) && !ws_code_valid(1006) && !ws_code_valid(1015));
    ck_assert(!ws_code_valid(2999) && !ws_code_valid(5000) && !ws_code_valid(-1000));
}
END_TEST

SUITE_MAIN("ws_frame", heads_read_back, rsv1_where_it_has_a_meaning, masks_at_any_offset, case_63_codes)
