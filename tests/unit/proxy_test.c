#include "parse/proxy.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

#define V2 "\r\n\r\n\0\r\nQUIT\n"

struct row {
    const char *data;
    size_t len;
    const char *ip; /* NULL: not known */
    size_t size;    /* 0: it is none */
};

#define ROW(text, ip, size)              \
    {                                    \
        text, sizeof(text) - 1, ip, size \
    }

static const struct row rows[] = {
    ROW("PROXY TCP4 198.51.100.7 192.0.2.1 5123 80\r\nGET", "198.51.100.7", 43),
    ROW("PROXY TCP6 2001:DB8::1 ::1 65535 0\r\n", "2001:db8::1", 36),
    ROW("PROXY UNKNOWN\r\n", NULL, 15),
    ROW("PROXY UNKNOWN ffff::1 whatever\r\nx", NULL, 32),
    ROW("PROXY TCP4 198.51.100.7 192.0.2.1 5123 80\n", NULL, 0),
    ROW("PROXY TCP4 198.51.100.7 192.0.2.1 5123\r\n", NULL, 0),
    ROW("PROXY TCP4 198.51.100.7 192.0.2.1 5123 80 \r\n", NULL, 0),
    ROW("PROXY TCP4  198.51.100.7 192.0.2.1 5123 80\r\n", NULL, 0),
    ROW("PROXY TCP4 198.51.100.777 192.0.2.1 5123 80\r\n", NULL, 0),
    ROW("PROXY TCP4 ::1 192.0.2.1 5123 80\r\n", NULL, 0),
    ROW("PROXY TCP4 198.51.100.7 192.0.2.1 05123 80\r\n", NULL, 0),
    ROW("PROXY TCP4 198.51.100.7 192.0.2.1 65536 80\r\n", NULL, 0),
    ROW("PROXY UDP4 198.51.100.7 192.0.2.1 1 80\r\n", NULL, 0),
    ROW("PROXY \r\n", NULL, 0),
    ROW("PROXX TCP4", NULL, 0),
    ROW("GET / HTTP/1.1\r\n", NULL, 0),
    ROW("\x16\x03\x01", NULL, 0),
    ROW(V2 "\x21\x11\x00\x0c\xc6\x33\x64\x07\xc0\x00\x02\x01\x14\x03\x00\x50GET", "198.51.100.7", 28),
    ROW(V2 "\x21\x11\x00\x10\xc6\x33\x64\x07\xc0\x00\x02\x01\x14\x03\x00\x50\x04\x00\x01\x00", "198.51.100.7",
        32),
    ROW(V2 "\x21\x21\x00\x24\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00"
           "\x01\x00\x50",
        "2001:db8::1", 52),
    ROW(V2 "\x20\x11\x00\x0c\xc6\x33\x64\x07\xc0\x00\x02\x01\x14\x03\x00\x50", NULL, 28),
    ROW(V2 "\x20\x00\x00\x00", NULL, 16),
    ROW(V2 "\x21\x00\x00\x03"
           "abc",
        NULL, 19),
    ROW(V2 "\x21\x31\x00\x02"
           "ab",
        NULL, 18),
    ROW(V2 "\x21\x11\x00\x0b\xc6\x33\x64\x07\xc0\x00\x02\x01\x14\x03\x00", NULL, 0),
    ROW(V2 "\x22\x11\x00\x00", NULL, 0),
    ROW(V2 "\x11\x11\x00\x00", NULL, 0),
    ROW(V2 "\x21\x11\xff\xff", NULL, 0),
    ROW("\r\n\r\n\r\n", NULL, 0),
};

START_TEST(case_88_headers)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct proxy_header header;
        int result = proxy_parse(rows[i].data, rows[i].len, &header);
        ck_assert_msg(result == (rows[i].size ? 1 : -EINVAL), "row %zu: %d", i, result);
        if (result < 0)
            continue;
        ck_assert_uint_eq(header.size, rows[i].size);
        ck_assert(header.known == (rows[i].ip != NULL));
        if (header.known)
            ck_assert_str_eq(header.ip, rows[i].ip);
        for (size_t len = 0; len < header.size; len++)
            ck_assert_int_eq(proxy_parse(rows[i].data, len, &header), 0);
    }
}
END_TEST

START_TEST(case_88_a_line_without_an_end)
{
    char line[300];
    struct proxy_header header;
    memset(line, 'x', sizeof line);
    memcpy(line, "PROXY ", 6);
    ck_assert_int_eq(proxy_parse(line, 106, &header), 0);
    ck_assert_int_eq(proxy_parse(line, 200, &header), -EINVAL);
}
END_TEST

SUITE_MAIN("proxy", case_88_headers, case_88_a_line_without_an_end)
