#include "parse/multipart.h"

#include "base/alloc.h"
#include "tests/unit/suite.h"

#include <stdbool.h>

/* What came out, as text: "[name|filename|type]content" for each part. */
static struct buffer seen;
static size_t open_parts;
static int stop_with;

static int begin(void *user, const struct multipart_part *part)
{
    (void)user;
    ck_assert_uint_eq(open_parts++, 0);
    ck_assert_int_eq(part->name.ptr[part->name.len], '\0');
    ck_assert_int_eq(part->type.ptr[part->type.len], '\0');
    buffer_text(&seen, "[");
    buffer_append(&seen, part->name.ptr, part->name.len);
    buffer_text(&seen, "|");
    if (part->filename.ptr != NULL) {
        ck_assert_int_eq(part->filename.ptr[part->filename.len], '\0');
        buffer_append(&seen, part->filename.ptr, part->filename.len);
    } else {
        buffer_text(&seen, "-");
    }
    buffer_text(&seen, "|");
    buffer_append(&seen, part->type.ptr, part->type.len);
    buffer_text(&seen, "]");
    return 0;
}

static int content(void *user, const char *data, size_t len)
{
    (void)user;
    ck_assert_uint_eq(open_parts, 1);
    ck_assert_uint_gt(len, 0);
    buffer_append(&seen, data, len);
    return stop_with;
}

static int end(void *user)
{
    (void)user;
    ck_assert_uint_eq(open_parts--, 1);
    return 0;
}

static const struct multipart_sink sink = {begin, content, end};

/* Feeds body cut at `cut`, then in pieces of `piece`. */
static int run(const char *boundary, const char *body, size_t len, size_t cut, size_t piece)
{
    struct multipart multipart;
    int r = 0;
    seen.len = 0;
    open_parts = 0;
    multipart_init(&multipart, cg_string(boundary), &MULTIPART_LIMITS, &sink, NULL);
    for (size_t at = 0, size = cut; at < len && r == 0; at += size, size = piece) {
        if (size > len - at)
            size = len - at;
        char *copy = xalloc(size + !size);
        memcpy(copy, body + at, size);
        r = multipart_feed(&multipart, copy, size);
        free(copy);
    }
    int last = multipart_end(&multipart);
    buffer_text(&seen, "");
    if (r != 0)
        ck_assert_int_eq(last, r);
    multipart_finish(&multipart);
    return last;
}

/* The same in one piece, byte by byte, and cut in two anywhere. */
static int parse_bytes(const char *body, size_t len)
{
    int r = run("b", body, len, len, len);
    struct buffer whole = {0};
    buffer_append(&whole, seen.data, seen.len);
    for (size_t cut = 0; cut <= len; cut++) {
        ck_assert_int_eq(run("b", body, len, cut, cut == 0 ? 1 : len), r);
        if (r == 0) {
            ck_assert_uint_eq(seen.len, whole.len);
            ck_assert_mem_eq(seen.data, whole.data, whole.len);
        }
    }
    buffer_finish(&whole);
    return r;
}

static void gives(const char *body, const char *expected)
{
    ck_assert_msg(parse_bytes(body, strlen(body)) == 0, "%s", body);
    ck_assert_str_eq(seen.data, expected);
}

static void refused(const char *body)
{
    ck_assert_msg(parse_bytes(body, strlen(body)) == -400, "%s", body);
}

/* One part with this disposition and the content "x". */
static void disposition(const char *value, const char *expected)
{
    char body[10000], text[10000];
    snprintf(body, sizeof body, "--b\r\nContent-Disposition: %s\r\n\r\nx\r\n--b--\r\n", value);
    snprintf(text, sizeof text, "[%s|]x", expected);
    gives(body, text);
}

START_TEST(fields_and_files)
{
    gives("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
          "--b\r\ncontent-type: text/plain\r\nCONTENT-DISPOSITION: form-data; name=\"f\"; "
          "filename=\"x.txt\"\r\n\r\nhello\r\n"
          "--b--\r\n",
          "[a|-|]1[f|x.txt|text/plain]hello");
    gives("preamble\r\n--b \t\r\n\r\n\r\n--b\r\n\r\n--b--epilogue\r\n--b\r\n", "[|-|][|-|]");
    gives("--b--", "");
    gives("--b\r\nX: y\r\n\r\n--b--", "[|-|]");
}
END_TEST

START_TEST(malformed)
{
    refused("");
    refused("\r\n");
    refused("--b");
    refused("--b\r\n");
    refused("--b\r\n\r\nx");
    refused("--b\r\n\r\nx\r\n--b");
    refused("--b\r\n\r\nx\r\n--b-");
    refused("--b\r\n\r\nx\n--b--");
    refused("--b\n\r\n\r\n--b--");
    refused("--bx\r\n\r\n\r\n--b--");
    refused("--b\r\n\r\nx\r\n--bx\r\n--b--");
    refused("--b\r\n\r\nx\r\n--b-x\r\n--b--");
    refused("--b\r\n\r\nx\r\n--b\rx\r\n--b--");
    refused("--b\r\nX: y\n\r\nx\r\n--b--");
    refused("--b\r\nX: y\r\n z\r\n\r\nx\r\n--b--");
    refused("--b\r\nX y\r\n\r\nx\r\n--b--");
    refused("--b\r\nX : y\r\n\r\nx\r\n--b--");
    refused("--b\r\n: y\r\n\r\nx\r\n--b--");
    refused("--b\r\nX: a\rb\r\n\r\nx\r\n--b--");
    refused("--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--b--");
    refused("--b\r\nContent-Disposition: x; name=a\r\nContent-Disposition: x; name=b\r\n\r\nx\r\n--b--");
    refused("--b\r\nContent-Type: a\r\nContent-Type: a\r\n\r\nx\r\n--b--");
    static const char nul[] = "--b\r\nContent-Disposition: form-data; name=\"a\0b\"\r\n\r\nx\r\n--b--";
    ck_assert_int_eq(parse_bytes(nul, sizeof nul - 1), -400);
}
END_TEST

START_TEST(case_1_backslashes_and_quotes)
{
    disposition("form-data; name=\"dir\\\"; filename=\"a.bin\"", "dir\\|a.bin");
    disposition("form-data; name=\"f\"; filename=\"q%22z.txt\"", "f|q%22z.txt");
    disposition("form-data; name=\"g\"; filename=\"u\\\"v.jpg\"", "g|u\"v.jpg");
    disposition("form-data; name=\"g\"; filename=\"a%0D%0Ab%00\"", "g|a%0D%0Ab%00");
    disposition("form-data; name=\"g\"; filename=\"\\\\x\\y\\\"", "g|\\\\x\\y\\");
    disposition("form-data; name=\"a\"b\" ; filename=\"c\"\t", "a\"b|c");
    disposition("form-data; name=\"a;b\"; filename=\";\"", "a;b|;");
    disposition("form-data; name=\"\"; filename=\"\"", "|");
}
END_TEST

START_TEST(case_2_names_in_all_shapes)
{
    disposition("form-data; name=\"f\"; filename=\"na\xc3\xafve-\xe6\x97\xa5.txt\"",
                "f|na\xc3\xafve-\xe6\x97\xa5.txt");
    gives("--b\r\nContent-Type: image/jpeg\r\nContent-Disposition: form-data; name=image; filename=shot.jpg; "
          "filename*=utf-8''shot.jpg\r\n\r\nx\r\n--b--",
          "[image|shot.jpg|image/jpeg]x");
    disposition("form-data;name=image;filename=my shot.jpg ;x", "image|my shot.jpg");
    disposition("FORM-DATA; NAME = a ; FileName = \"b\"", "a|b");
    disposition("form-data; name=a; filename*=UTF-8'en'na%C3%AFve%20x.txt", "a|na\xc3\xafve x.txt");
    disposition("form-data; filename*=utf-8''other.txt; name=a; filename=this.txt", "a|this.txt");
    disposition("form-data; name=a; filename*=utf-8''a%0D%0Ab", "a|");
    disposition("form-data; name=a; filename*=utf-8''a%00b", "a|");
    disposition("form-data; name=a; filename*=latin1''x", "a|");
    disposition("form-data; name=a; filename*=utf-8'x", "a|");
    disposition("form-data; name=a; filename*=", "a|");
    disposition("form-data; name=a; name=b; filename=c; filename=d", "a|c");
    disposition("form-data; xname=a; name*=b; filename=c", "|c");
}
END_TEST

START_TEST(case_4_line_ends_and_near_boundaries)
{
    const char *contents[] = {"\r\n",
                              "\r\n\r\n",
                              "\r\n\r\n\r\n",
                              "\r",
                              "\n",
                              "\r\n--BOUND",
                              "\r\n\r\n--BOUND\r\n",
                              "\r\r\n--\r\n--BOUN\r",
                              "--BOUND",
                              "-",
                              "",
                              "\r\n--BOUND123x\r\n--BOUND1234X",
                              "\r\n-\r\n--\r\r\n"};
    for (size_t i = 0; i < COUNT(contents); i++) {
        char body[500], expected[500];
        int len = snprintf(
            body, sizeof body,
            "--BOUND1234\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n%s\r\n--BOUND1234--",
            contents[i]);
        snprintf(expected, sizeof expected, "[f|f|]%s", contents[i]);
        bool holds = strstr(contents[i], "BOUND1234") != NULL; /* a line that begins so is no content */
        for (size_t cut = 0; cut <= (size_t)len; cut++) {
            for (size_t piece = 1; piece < 5; piece++) {
                ck_assert_int_eq(run("BOUND1234", body, (size_t)len, cut, piece), holds ? -400 : 0);
                if (!holds)
                    ck_assert_str_eq(seen.data, expected);
            }
        }
    }
}
END_TEST

START_TEST(case_4_delimiter_across_every_read)
{
    static const char head[] = "--b0undary\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n",
                      tail[] = "\r\n--b0undary--\r\n";
    char *body = xalloc(65536 + sizeof head + sizeof tail);
    for (size_t offset = 0; offset < 4096; offset++) {
        size_t size = 4096 * (offset % 4) + offset, len = sizeof head - 1;
        memcpy(body, head, len);
        for (size_t i = 0; i < size; i++)
            body[len++] = "\r\n--b0x"[i * 2654435761u % 7];
        memcpy(body + len, tail, sizeof tail - 1);
        ck_assert_int_eq(run("b0undary", body, len + sizeof tail - 1, 4096, 4096), 0);
        ck_assert_uint_eq(seen.len, 6 + size);
        ck_assert_mem_eq(seen.data + 6, body + sizeof head - 1, size);
    }
    free(body);
}
END_TEST

static size_t fill(char *to, size_t size, const char *pattern)
{
    size_t len = strlen(pattern);
    for (size_t i = 0; i < size; i++)
        to[i] = pattern[i % len];
    return size;
}

/* A quadratic search would not come to an end in the time that the suite has. */
START_TEST(case_6_floods_are_linear)
{
    static const char head[] = "--b\r\n\r\n", tail[] = "\r\n--b--";
    const char *patterns[] = {"\r", "\r\n", "a", "--b", "\r\n--", "\r\n--a"};
    size_t size = 16 << 20;
    char *body = xalloc(size + 64);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        memcpy(body, head, sizeof head);
        size_t len = sizeof head - 1 + fill(body + sizeof head - 1, size, patterns[i]);
        if (strcmp(patterns[i], "--b") == 0)
            body[sizeof head - 1] = 'x';
        memcpy(body + len, tail, sizeof tail);
        ck_assert_int_eq(run("b", body, len + sizeof tail - 1, 1, 65536), 0);
        ck_assert_uint_eq(seen.len, 5 + size);
    }
    size_t len = (size_t)sprintf(body, "--b\r\n\r\nx\r\n--b--");
    len += fill(body + len, 1 << 20, "-");
    ck_assert_int_eq(run("b", body, len, 1000, 1000), 0);
    ck_assert_str_eq(seen.data, "[|-|]x");
    free(body);
}
END_TEST

START_TEST(case_7_limits)
{
    struct buffer body = {0};
    for (int i = 0; i < 1000; i++)
        buffer_text(&body, "--b\r\n\r\nx\r\n");
    size_t len = body.len;
    buffer_text(&body, "--b--");
    ck_assert_int_eq(run("b", body.data, body.len, 100, 100), 0);
    body.len = len;
    buffer_text(&body, "--b\r\n\r\nx\r\n--b--");
    ck_assert_int_eq(run("b", body.data, body.len, 100, 100), -413);

    body.len = 0;
    buffer_text(&body, "--b\r\n");
    for (int i = 0; i < 21; i++)
        buffer_printf(&body, "X-%d: y\r\n", i);
    ck_assert_int_eq(run("b", body.data, body.len, 100, 100), -413);

    body.len = 0;
    buffer_printf(&body, "--b\r\nX: %*d", 2 << 20, 0);
    ck_assert_int_eq(run("b", body.data, body.len, 1000, 1000), -413);
    ck_assert_int_eq(run("b", body.data, body.len, body.len, body.len), -413);
    buffer_finish(&body);
}
END_TEST

START_TEST(case_8_hostile_names)
{
    const char *names[] = {"../../etc/cron.d/x", "..\\..\\x.dll", "/abs/p.txt", "C:\\dir\\y.png", ".", "..",
                           "a/b/c.txt"};
    char value[5000], expected[5000], longest[4097];
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(value, sizeof value, "form-data; name=\"f\"; filename=\"%s\"", names[i]);
        snprintf(expected, sizeof expected, "f|%s", names[i]);
        disposition(value, expected);
    }
    fill(longest, 4096, "a");
    longest[4096] = '\0';
    int len = snprintf(value, sizeof value,
                       "--b\r\nContent-Disposition: form-data; filename=\"%s\"\r\n\r\n\r\n--b--", longest);
    ck_assert_int_eq(run("b", value, (size_t)len, 1, 100), 0);
    disposition("form-data; name=\"\"", "|-");
    disposition("form-data", "|-");
    disposition("", "|-");
    disposition(";;;=;= ;\"", "|-");
}
END_TEST

START_TEST(a_callback_ends_the_parse)
{
    stop_with = 7;
    ck_assert_int_eq(run("b", "--b\r\n\r\nxy\r\n--b--", 16, 1, 1), 7);
    ck_assert_str_eq(seen.data, "[|-|]x");
    stop_with = 0;
}
END_TEST

START_TEST(boundaries)
{
    cg_str boundary;
    const char *good[] = {
        "multipart/form-data; boundary=a'()+_,-./:?b", "Multipart/Form-Data;charset=x; BOUNDARY=\"a b\"",
        "multipart/form-data ; boundary = x ;", "multipart/form-data; x=\"; boundary=no\"; boundary=yes"};
    const char *values[] = {"a'()+_,-./:?b", "a b", "x", "yes"};
    for (size_t i = 0; i < COUNT(good); i++) {
        ck_assert_msg(multipart_boundary(cg_string(good[i]), &boundary) == 0, "%s", good[i]);
        ck_assert_uint_eq(boundary.len, strlen(values[i]));
        ck_assert_mem_eq(boundary.ptr, values[i], boundary.len);
    }
    const char *bad[] = {
        "multipart/form-data", "multipart/form-data;", "multipart/form-data; boundary",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=\"a", "multipart/form-data; boundary=\"a \"",
        "multipart/form-data; boundary=a\"b", "multipart/form-data; boundary=a; boundary=a",
        "multipart/form-data; boundary=a@b", "multipart/form-data; boundary=\"a\r\n\"",
        "multipart/form-data; boundary=\xc3\xa4", "multipart/form-data; xboundary=a",
        /* 71 bytes */
        ("multipart/form-data; "
         "boundary=12345678901234567890123456789012345678901234567890123456789012345678901")};
    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(multipart_boundary(cg_string(bad[i]), &boundary) == -400, "%s", bad[i]);
    ck_assert_int_eq(multipart_boundary(cg_string("multipart/mixed; boundary=a"), &boundary), -415);
    ck_assert_int_eq(multipart_boundary(cg_string("text/plain"), &boundary), -415);
    ck_assert_int_eq(multipart_boundary((cg_str){0}, &boundary), -415);
}
END_TEST

SUITE_MAIN("multipart", fields_and_files, malformed, case_1_backslashes_and_quotes,
           case_2_names_in_all_shapes, case_4_line_ends_and_near_boundaries,
           case_4_delimiter_across_every_read, case_6_floods_are_linear, case_7_limits, case_8_hostile_names,
           a_callback_ends_the_parse, boundaries)
