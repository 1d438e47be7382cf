#include "parse/path.h"

#include "base/alloc.h"
#include "parse/percent.h"
#include "tests/unit/suite.h"

static char out[1024];
static size_t out_len;

/* In a block that ends with the path, and with room for what is promised. */
static int normalise(const char *raw, size_t len)
{
    char *copy = xalloc(len + !len), *result = xalloc(len + 1);
    memcpy(copy, raw, len);
    int r = path_normalise(copy, len, result, &out_len);
    if (r == 0) {
        ck_assert_uint_le(out_len, len);
        ck_assert_int_eq(result[out_len], '\0');
        memcpy(out, result, out_len + 1);
    }
    free(copy);
    free(result);
    return r;
}

static void gives(const char *raw, const char *path)
{
    ck_assert_msg(normalise(raw, strlen(raw)) == 0, "%s", raw);
    ck_assert_str_eq(out, path);
}

static void refused(const char *raw)
{
    ck_assert_msg(normalise(raw, strlen(raw)) == -400, "%s", raw);
}

START_TEST(plain_paths)
{
    gives("/", "/");
    gives("/a/b.html", "/a/b.html");
    gives("/a/", "/a/");
    gives("/a%20b/%C3%A4", "/a b/\xc3\xa4");
    gives("/%41%5a%7e", "/AZ~");
    gives("/a:b@c;d=e,f!", "/a:b@c;d=e,f!");
    gives("/%3Fx%23y", "/?x#y");
    gives("/%0d%0a", "/\r\n");
    refused("");
    refused("a");
    refused("*");
    refused("%2Fa");
}
END_TEST

START_TEST(case_10_plus_stays)
{
    gives("/a+b", "/a+b");
    gives("/c++.txt", "/c++.txt");
    gives("/c%2B%2b.txt", "/c++.txt");
}
END_TEST

START_TEST(case_12_malformed_escapes)
{
    refused("/%");
    refused("/a%2");
    refused("/%zz");
    refused("/%4g");
    refused("/%%41");
    refused("/a b");
    refused("/a\x01");
    refused("/a\x7f");
    refused("/\xc3\xa4");
}
END_TEST

START_TEST(case_23_dot_segments)
{
    gives("/a/./b", "/a/b");
    gives("/a/../b", "/b");
    gives("/a/.%2e/x", "/x");
    gives("/a/%2E%2e/x", "/x");
    gives("/%2e", "/");
    gives("/a/.", "/a/");
    gives("/a/b/..", "/a/");
    gives("/a/..", "/");
    gives("/a/../", "/");
    gives("/...", "/...");
    gives("/..a/.b", "/..a/.b");
    gives("/a/b/../../c", "/c");
    gives("/a//../b", "/b");
    refused("/..");
    refused("/../");
    refused("/%2e%2e/%2e%2e/etc/passwd");
    refused("/static/../../x");
    refused("//..");
    refused("/./..");
    gives("/..%2f..%2fetc/passwd", "/..%2F..%2Fetc/passwd"); /* one odd name, not two steps up */
    gives("/..\\..\\x", "/..\\..\\x");
}
END_TEST

START_TEST(case_25_nul)
{
    refused("/css/site.css%00.png");
    refused("/%00");
    ck_assert_int_eq(normalise("/a\0b", 4), -400);
}
END_TEST

START_TEST(case_26_slashes)
{
    gives("//docs", "/docs");
    gives("///docs", "/docs");
    gives("//", "/");
    gives("/a//b///", "/a/b/");
    gives("/docs%2f..%2f..%2f/example.org", "/docs%2F..%2F..%2F/example.org");
    refused("//example.org/../../docs");
    gives("/%5Cexample.org", "/\\example.org");
    gives("/%2f", "/%2F");
    gives("/.//a", "/a");
}
END_TEST

START_TEST(escaped_percent)
{
    gives("/100%25.txt", "/100%.txt");
    gives("/%25", "/%");
    gives("/%252", "/%2");
    gives("/%252F", "/%252F");
    gives("/%252f", "/%252f");
    gives("/%2525", "/%2525");
    gives("/%2541", "/%41");
    gives("/%25252F", "/%25252F");
    gives("/%25%32F", "/%252F");
    gives("/%25/2F", "/%/2F");
    gives("/%25%2F", "/%%2F");
}
END_TEST

static void decodes(const char *raw, const char *text)
{
    char decoded[256];
    ck_assert_msg(normalise(raw, strlen(raw)) == 0, "%s", raw);
    size_t len = path_decode(out, out_len, decoded);
    ck_assert_uint_eq(len, strlen(text));
    ck_assert_str_eq(decoded, text);
}

START_TEST(decoding_is_exact)
{
    decodes("/a%2Fb", "/a/b");
    decodes("/a%252Fb", "/a%2Fb");
    decodes("/a%25252Fb", "/a%252Fb");
    decodes("/a%252fb", "/a%2fb");
    decodes("/%2525", "/%25");
    decodes("/%25%2F%25", "/%/%");
    decodes("/100%25", "/100%");
    decodes("/%25252525", "/%252525");
    decodes("/%2541%2520", "/%41%20");
}
END_TEST

/* Whatever a segment is made of: one decoding of the normalised path gives what was encoded. And the path as
   written in a URL comes to the same path again. */
START_TEST(round_trips)
{
    static const char alphabet[] = "%25Ff/a\\ \xff";
    struct arena arena = {0};
    srand(1);
    for (int round = 0; round < 20000; round++) {
        char text[12], raw[64] = "/x", decoded[64], *to = raw + 2;
        size_t len = (size_t)rand() % sizeof text;
        for (size_t i = 0; i < len; i++) {
            text[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
            to = percent_put(to, text[i]);
        }
        ck_assert_int_eq(normalise(raw, (size_t)(to - raw)), 0);
        ck_assert_uint_eq(path_decode(out, out_len, decoded), len + 2);
        ck_assert_mem_eq(decoded + 2, text, len);

        char before[1024];
        memcpy(before, out, out_len + 1);
        cg_str url = path_encode(&arena, cg_bytes(out, out_len));
        ck_assert_int_eq(normalise(url.ptr, url.len), 0);
        ck_assert_str_eq(out, before);
        arena_finish(&arena);
    }
}
END_TEST

START_TEST(case_27_written_in_a_location)
{
    struct arena arena = {0};
    ck_assert_text(path_encode(&arena, cg_string("/d x/")), "/d%20x/");
    ck_assert_text(path_encode(&arena, cg_string("/a%2Fb/%252F/100%")), "/a%2Fb/%252F/100%25");
    ck_assert_text(path_encode(&arena, cg_string("/\\e\r\n?#\"\xc3\xa4")), "/%5Ce%0D%0A%3F%23%22%C3%A4");
    ck_assert_text(path_encode(&arena, cg_string("/a-._~!$&'()*+,;=:@z")), "/a-._~!$&'()*+,;=:@z");
    arena_finish(&arena);
}
END_TEST

START_TEST(percent_decoding)
{
    char text[32];
    ck_assert_uint_eq(percent_decode("a+b%20c%zz%4", 12, true, text), 10);
    ck_assert_str_eq(text, "a b c%zz%4");
    ck_assert_uint_eq(percent_decode("a+b%00", 6, false, text), 4);
    ck_assert_mem_eq(text, "a+b\0", 5);
}
END_TEST

START_TEST(staying_below_a_folder)
{
    static const char *const below[] = {"a",   "a/b.html", ".a",    "..a", "a..",
                                        "...", ".../a",    "a/..b", "./a", "a//b"};
    static const char *const not_below[] = {"",     "/",      "/a",     "..",       "../a",
                                            "a/..", "a/../b", "./../a", ".../../a", "a//../b"};
    for (size_t i = 0; i < COUNT(below); i++)
        ck_assert_msg(path_stays_below(below[i]), "%s", below[i]);
    for (size_t i = 0; i < COUNT(not_below); i++)
        ck_assert_msg(!path_stays_below(not_below[i]), "%s", not_below[i]);
}
END_TEST

SUITE_MAIN("path", plain_paths, case_10_plus_stays, case_12_malformed_escapes, case_23_dot_segments,
           case_25_nul, case_26_slashes, escaped_percent, decoding_is_exact, round_trips,
           case_27_written_in_a_location, percent_decoding, staying_below_a_folder)
