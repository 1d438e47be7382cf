#include "parse/head.h"

#include "tests/unit/suite.h"

static struct head head;
static cg_field fields[HEAD_MAX_FIELDS];
static char copy[65536];

/* Scans and parses a whole request; the result of the step that refused, or 0. */
static int parse_bytes(const char *data, size_t len)
{
    struct head_scan scan = {0};
    ck_assert_uint_le(len, sizeof copy);
    memcpy(copy, data, len);
    int r = head_scan(copy, len, 16384, &scan);
    if (r == 1)
        return head_parse(copy, &scan, fields, &head);
    return r == 0 ? 1 : r;
}

static int parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/* A GET with these further lines. */
static int with(const char *lines)
{
    char text[32768];
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", lines);
    return parse(text);
}

static int target(const char *method, const char *url)
{
    char text[4096];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, url);
    return parse(text);
}

START_TEST(plain_request)
{
    ck_assert_int_eq(
        parse("GET /a%20b?x=1&y HTTP/1.1\r\nHOST:  example.org:80\t\r\nX-Empty:\r\nAccept: a\tb\r\n\r\n"), 0);
    ck_assert_str_eq(head.method.ptr, "GET");
    ck_assert_str_eq(head.target.ptr, "/a%20b?x=1&y");
    ck_assert_slice(head.path, "/a%20b");
    ck_assert_str_eq(head.query.ptr, "x=1&y");
    ck_assert_str_eq(head.host.ptr, "example.org:80");
    ck_assert_uint_eq(head.count, 3);
    ck_assert_str_eq(head.fields[0].name.ptr, "host");
    ck_assert_str_eq(head.fields[1].name.ptr, "x-empty");
    ck_assert_str_eq(head.fields[1].value.ptr, "");
    ck_assert_str_eq(head.fields[2].value.ptr, "a\tb");
    ck_assert_int_eq(head.minor, 1);
    ck_assert_int_eq(head.body, BODY_NONE);
    ck_assert(head.keep_alive && !head.expect_continue);
}
END_TEST

START_TEST(targets)
{
    ck_assert_int_eq(target("OPTIONS", "*"), 0);
    ck_assert_str_eq(head.path.ptr, "*");
    ck_assert_int_eq(target("GET", "*"), -400);
    ck_assert_int_eq(target("OPTIONS", "*x"), -400);
    ck_assert_int_eq(target("GET", "http://other.test:81/p?q"), 0);
    ck_assert_str_eq(head.host.ptr, "other.test:81");
    ck_assert_str_eq(head.target.ptr, "/p?q");
    ck_assert_slice(head.path, "/p");
    ck_assert_int_eq(target("GET", "HTTPS://other.test"), 0);
    ck_assert_str_eq(head.host.ptr, "other.test");
    ck_assert_str_eq(head.target.ptr, "/");
    ck_assert_str_eq(head.query.ptr, "");
    ck_assert_int_eq(target("GET", "http://o?q=/"), 0);
    ck_assert_str_eq(head.host.ptr, "o");
    ck_assert_str_eq(head.target.ptr, "/?q=/");
    ck_assert_str_eq(head.query.ptr, "q=/");
    const char *bad[] = {
        "http://", "http:///x", "http://u@h/",   "http://a,b/", "ftp://x/",  "http:/x", "x",
        "?x",      "/a#b",      "/\xc3\xa4",     "/a\x7f",      "/a\x01",    "/a\tb",   "http://h:65536/",
        "a:80",    "/ ",        "http://[::1/x", "http://%61/", "https://?x"};
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(target("GET", bad[i]) == -400, "%s", bad[i]);
    ck_assert_int_eq(target("CONNECT", "a:80"), -501);
    ck_assert_int_eq(target("connect", "/x"), 0);
    ck_assert_int_eq(target("G(T", "/x"), -400);
}
END_TEST

START_TEST(versions)
{
    ck_assert_int_eq(parse("GET / HTTP/1.0\r\n\r\n"), 0);
    ck_assert_int_eq(head.minor, 0);
    ck_assert(!head.keep_alive);
    ck_assert_int_eq(parse("GET / HTTP/1.2\r\nHost: x\r\n\r\n"), -505);
    ck_assert_int_eq(parse("GET / HTTP/0.9\r\nHost: x\r\n\r\n"), -505);
    ck_assert_int_eq(parse("PRI * HTTP/2.0\r\n\r\n"),
                     -400); /* "*" is for OPTIONS; http2 looks for its preface itself */
    ck_assert_int_eq(parse("GET / HTTP/2.0\r\n\r\n"), -505);
    const char *bad[] = {"GET / http/1.1",  "GET / HTTP/1.1 ", "GET / HTTP/1,1",  "GET / HTTP/11",
                         "GET /  HTTP/1.1", "GET  / HTTP/1.1", "GET\t/ HTTP/1.1", " GET / HTTP/1.1",
                         "GET /",           "GET / HTTP/1.10", "GET HTTP/1.1",    "GET / HTTP/a.1",
                         "GET / HTTP/1.1\r"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[100];
        snprintf(text, sizeof text, "%s\r\nHost: x\r\n\r\n", bad[i]);
        ck_assert_msg(parse(text) == -400, "%s", bad[i]);
    }
}
END_TEST

START_TEST(field_lines)
{
    const char *bad[] = {" a: b\r\n",      "a : b\r\n",       ": b\r\n",        "a\r\n",
                         "a: b\r\n c\r\n", "a: b\r\n\tc\r\n", "a: b\rc: d\r\n", "a: \x7f\r\n",
                         "a: \x01\r\n",    "a\x80: b\r\n",    "a b: c\r\n",     "\ta: b\r\n",
                         "a: b\r\r\n",     "\r: b\r\n",       "a:\x0b b\r\n",   "(a): b\r\n"};
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(with(bad[i]) == -400, "%s", bad[i]);
    ck_assert_int_eq(with("a: 1234567\x01 90\r\n"), -400);
    ck_assert_int_eq(with("a: caf\xc3\xa9 12345678 \xff\r\n"), 0);
    ck_assert_str_eq(head.fields[1].value.ptr, "caf\xc3\xa9 12345678 \xff");
    ck_assert_int_eq(with("a:b\r\nA:c\r\n"), 0);
    ck_assert_uint_eq(head.count, 3);
}
END_TEST

/* Every byte at every place: never accepted where it is a control byte, and never a crash. */
START_TEST(mutations)
{
    static const char text[] =
        "POST /p?q=1 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 12\r\nX-Long: 0123456789abcdef\t.\r\n\r\n";
    char changed[sizeof text];
    ck_assert_int_eq(parse(text), 0);
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(changed, text, sizeof text);
            changed[i] = (char)byte;
            int r = parse_bytes(changed, sizeof text - 1);
            if (byte != text[i] && (byte < 0x20 || byte == 0x7f) && byte != '\t')
                ck_assert_msg(r < 0 || (r == 1 && i >= sizeof text - 4), "byte %d at %zu: %d", byte, i, r);
        }
    }
}
END_TEST

START_TEST(case_41_conflicting_content_length)
{
    const char *bad[] = {"Content-Length: 0\r\nContent-Length: 35\r\n",
                         "Content-Length: 3\r\ncontent-length: 3\r\n",
                         "Content-Length: 3, 3\r\n",
                         "Content-Length: +3\r\n",
                         "Content-Length: -1\r\n",
                         "Content-Length: 0x3\r\n",
                         "Content-Length: 12345678901234567890\r\n",
                         "Content-Length: 0000000000000000003\r\n",
                         "Content-Length:\r\n",
                         "Content-Length: 3 3\r\n",
                         "Content-Length: 3\x0b\r\n",
                         "Content-Length : 3\r\n",
                         "Content-Length: 3;\r\n"};
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(with(bad[i]) == -400, "%s", bad[i]);
    ck_assert_int_eq(with("Content-Length: 3 \r\n"), 0);
    ck_assert_int_eq(head.body, BODY_LENGTH);
    ck_assert_uint_eq(head.length, 3);
    ck_assert_int_eq(with("Content-Length: 999999999999999999\r\n"), 0);
    ck_assert_uint_eq(head.length, 999999999999999999u);
    ck_assert_int_eq(with("Content-Length: 0\r\n"), 0);
    ck_assert_int_eq(head.body, BODY_NONE);
}
END_TEST

START_TEST(case_43_transfer_encoding)
{
    ck_assert_int_eq(with("Transfer-Encoding: Chunked\r\n"), 0);
    ck_assert_int_eq(head.body, BODY_CHUNKED);
    ck_assert_uint_eq(head.length, 0);
    ck_assert_int_eq(with("Transfer-Encoding: gzip, chunked\r\n"), -501);
    const char *bad[] = {"Transfer-Encoding: chunked, chunked\r\n",
                         "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                         "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                         "Transfer-Encoding: xchunked\r\n",
                         "Transfer-Encoding: identity\r\n",
                         "Transfer-Encoding: chunked, identity\r\n",
                         "Transfer-Encoding: gzip\r\n",
                         "Transfer-Encoding:\r\n",
                         "Transfer-Encoding: ,chunked\r\n",
                         "Transfer-Encoding: chunked,\r\n",
                         "Transfer-Encoding: chunked;a=b\r\n",
                         "Transfer-Encoding: \"chunked\"\r\n",
                         "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
                         "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                         "Transfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n",
                         "Transfer-Encoding\t: chunked\r\n"};
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(with(bad[i]) == -400, "%s", bad[i]);
    ck_assert_int_eq(parse("GET / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"), -400);
}
END_TEST

START_TEST(case_54_only_a_whole_head_counts)
{
    static const char text[] = "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nGET";
    struct head_scan scan = {0};
    size_t whole = sizeof text - 1 - 3;
    for (size_t size = 0; size < whole; size++)
        ck_assert_int_eq(head_scan(text, size, 1000, &scan), 0);
    ck_assert_int_eq(head_scan(text, whole, 1000, &scan), 1);
    ck_assert_uint_eq(scan.len, whole);
    ck_assert_uint_eq(scan.skipped, 2);
    ck_assert_uint_eq(scan.lines, 1);
    scan = (struct head_scan){0};
    ck_assert_int_eq(head_scan(text, sizeof text - 1, 1000, &scan), 1);
    ck_assert_uint_eq(scan.len, whole);
}
END_TEST

START_TEST(case_56_host_rules)
{
    ck_assert_int_eq(parse("GET / HTTP/1.1\r\n\r\n"), -400);
    ck_assert_int_eq(parse("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), -400);
    ck_assert_int_eq(parse("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), -400);
    ck_assert_int_eq(parse("GET http://a/ HTTP/1.1\r\n\r\n"), -400);
    ck_assert_int_eq(parse("GET http://a/ HTTP/1.1\r\nHost: b c\r\n\r\n"), -400);
    ck_assert_int_eq(parse("GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n"), 0);
    ck_assert_str_eq(head.host.ptr, "a");
    ck_assert_int_eq(parse("GET / HTTP/1.0\r\n\r\n"), 0);
    ck_assert_str_eq(head.host.ptr, "");
    ck_assert_int_eq(parse("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0);
    ck_assert_str_eq(head.host.ptr, "");
    ck_assert_int_eq(parse("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), -400);
    ck_assert_int_eq(parse("GET / HTTP/1.1\r\nHost: x:99999\r\n\r\n"), -400);
}
END_TEST

START_TEST(connection_options)
{
    ck_assert_int_eq(with("Connection: foo , CLOSE\r\n"), 0);
    ck_assert(!head.keep_alive);
    ck_assert_int_eq(with("Connection: closed\r\n"), 0);
    ck_assert(head.keep_alive);
    ck_assert_int_eq(parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), 0);
    ck_assert(head.keep_alive);
    ck_assert_int_eq(parse("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n"), 0);
    ck_assert(!head.keep_alive);
}
END_TEST

START_TEST(expectations)
{
    ck_assert_int_eq(with("Expect: 100-Continue\r\nContent-Length: 1\r\n"), 0);
    ck_assert(head.expect_continue);
    ck_assert_int_eq(with("Expect: 100-continue\r\n"), 0);
    ck_assert(!head.expect_continue);
    ck_assert_int_eq(with("Expect: 100-continuex\r\n"), -417);
    ck_assert_int_eq(with("Expect: 200-ok\r\nContent-Length: x\r\n"), -400);
    ck_assert_int_eq(parse("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"), 0);
    ck_assert(!head.expect_continue);
}
END_TEST

static int scan(const char *data, size_t size, size_t limit)
{
    struct head_scan state = {0};
    return head_scan(data, size, limit, &state);
}

START_TEST(what_is_not_http_is_refused_at_once)
{
    ck_assert_int_eq(scan("\x16", 1, 1000), -400);
    ck_assert_int_eq(scan("\0", 1, 1000), -400);
    ck_assert_int_eq(scan("\n", 1, 1000), -400);
    ck_assert_int_eq(scan("\rG", 2, 1000), -400);
    ck_assert_int_eq(scan("\r", 1, 1000), 0);
    ck_assert_int_eq(scan("\r\n\r\n", 4, 1000), 0);
    ck_assert_int_eq(scan("\r\n\r\n\r\n", 6, 1000), -400);
    ck_assert_int_eq(scan("GET / HTTP/1.1\nHost: x\n\n", 24, 1000), -400);
    ck_assert_int_eq(scan("GET / HTTP/1.1\r\nHost: x\n", 24, 1000), -400);
    ck_assert_int_eq(scan("PROXY TCP4 198.51.100.7 192.0.2.1 5123 80\r\n", 43, 1000), -400);
    ck_assert_int_eq(scan("GET /\r\n", 7, 1000), -400);
    ck_assert_int_eq(scan("\r\n\r\nGET", 7, 1000), 0);
}
END_TEST

START_TEST(limits)
{
    char text[8192];
    memset(text, 'a', sizeof text);
    ck_assert_int_eq(scan(text, 100, 100), 0);
    ck_assert_int_eq(scan(text, 101, 100), -414);
    int len = snprintf(text, sizeof text, "GET /%0200d HTTP/1.1\r\n\r\n", 0);
    ck_assert_int_eq(scan(text, (size_t)len, 100), -414);
    len = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\nA: %0200d", 0);
    ck_assert_int_eq(scan(text, (size_t)len, 100), -431);
    len = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\nA: %0200d\r\n\r\n", 0);
    ck_assert_int_eq(scan(text, (size_t)len, (size_t)len), 1);
    ck_assert_int_eq(scan(text, (size_t)len, (size_t)len - 1), -431);
    size_t used = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\n");
    for (int i = 1; i < HEAD_MAX_FIELDS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "a: b\r\n");
    snprintf(text + used, sizeof text - used, "\r\n");
    ck_assert_int_eq(parse(text), 0);
    ck_assert_uint_eq(head.count, HEAD_MAX_FIELDS);
    snprintf(text + used, sizeof text - used, "a: b\r\n\r\n");
    ck_assert_int_eq(parse(text), -431);
}
END_TEST

SUITE_MAIN("head", plain_request, targets, versions, field_lines, mutations,
           case_41_conflicting_content_length, case_43_transfer_encoding, case_54_only_a_whole_head_counts,
           case_56_host_rules, connection_options, expectations, what_is_not_http_is_refused_at_once, limits)
