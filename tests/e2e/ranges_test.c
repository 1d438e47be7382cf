/* Parts of files, from memory and from disk, over each protocol. */
#include "site.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGE (9 << 20)  /* more than is kept in memory */
#define MIDDLE (5 << 20) /* kept there */

static struct site *site;
static char *large, *middle;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/ten.txt", "0123456789");
    folder_print(folder, "public/empty.txt", "%s", "");
    large = bytes_make(LARGE, 1);
    middle = bytes_make(MIDDLE, 2);
    folder_write(folder, "public/large.bin", large, LARGE);
    folder_write(folder, "public/middle.bin", middle, MIDDLE);
    site = site_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    site_stop(site);
}

static struct answer *part(enum transport transport, const char *path, const char *range)
{
    return site_get_with(site, transport, path, text_print("Range: %s", range));
}

START_TEST(case_32_single_byte_ranges)
{
    static const struct {
        const char *range;
        int status;
        const char *body, *content_range;
    } rows[] = {
        {"bytes=0-0", 206, "0", "bytes 0-0/10"},
        {"bytes=-3", 206, "789", "bytes 7-9/10"},
        {"bytes=-20", 206, "0123456789", "bytes 0-9/10"},
        {"bytes=5-", 206, "56789", "bytes 5-9/10"},
        {"bytes=5-50", 206, "56789", "bytes 5-9/10"},
        {"bytes=9-9", 206, "9", "bytes 9-9/10"},
        {"bytes=10-", 416, NULL, "bytes */10"},
        {"bytes=-0", 416, NULL, "bytes */10"},
        {"bytes=3-1", 200, "0123456789", NULL},
        {"abc", 200, "0123456789", NULL},
        {"items=0-1", 200, "0123456789", NULL},
        {"bytes=0-18446744073709551616", 206, "0123456789", "bytes 0-9/10"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer *answer = part((enum transport)_i, "/ten.txt", rows[i].range);
        ck_assert_msg(answer->status == rows[i].status, "%s: %s", rows[i].range, answer->head);
        if (rows[i].body != NULL)
            answer_expect_text(answer, rows[i].status, rows[i].body);
        if (rows[i].content_range != NULL)
            answer_expect_field(answer, "content-range", rows[i].content_range);
        else
            ck_assert_ptr_null(answer_field(answer, "content-range"));
        answer_expect_field(answer, "content-length", text_print("%zu", answer->len));
        if (answer->status != 416)
            answer_expect_field(answer, "accept-ranges", "bytes");
    }
}
END_TEST

START_TEST(case_32_nothing_of_an_empty_file)
{
    answer_expect_text(part((enum transport)_i, "/empty.txt", "bytes=-5"), 200, "");
    struct answer *answer = part((enum transport)_i, "/empty.txt", "bytes=0-");
    answer_expect(answer, 416);
    answer_expect_field(answer, "content-range", "bytes */0");
}
END_TEST

START_TEST(case_32_head_knows_no_ranges)
{
    static const char *const paths[] = {"/ten.txt", "/large.bin"};
    static const char *const lengths[] = {"10", "9437184"};
    for (size_t i = 0; i < 2; i++) {
        struct answer *answer = site_send(site, (enum transport)_i, "HEAD", paths[i],
                                          (const char *const[]){"Range: bytes=2-3", NULL});
        answer_expect_text(answer, 200, "");
        answer_expect_field(answer, "content-length", lengths[i]);
    }
}
END_TEST

START_TEST(case_32_parts_of_large_files)
{
    static const size_t at[][2] = {
        {0, 1}, {1, 70000}, {MIDDLE - 100000, 100000}, {12345, 3000000}, {0, MIDDLE}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const char *range = text_print("bytes=%zu-%zu", at[i][0], at[i][0] + at[i][1] - 1);
        answer_expect_bytes(part((enum transport)_i, "/middle.bin", range), 206, middle + at[i][0], at[i][1]);
        answer_expect_bytes(part((enum transport)_i, "/large.bin", range), 206, large + at[i][0], at[i][1]);
    }
    answer_expect_bytes(site_get(site, (enum transport)_i, "/large.bin"), 200, large, LARGE);
    answer_expect_bytes(part((enum transport)_i, "/large.bin", "bytes=-7"), 206, large + LARGE - 7, 7);
}
END_TEST

/* Reads multipart/byteranges as RFC 9110, 14.6 has it, and compares each part; nothing may be left over. */
static void expect_parts(const struct answer *answer, const char *content, size_t size,
                         const size_t parts[][2], size_t count)
{
    answer_expect(answer, 206);
    const char *type = answer_field(answer, "content-type"), *mark = strstr(type, "boundary=");
    ck_assert_msg(strncmp(type, "multipart/byteranges; boundary=", 31) == 0, "%s", type);
    ck_assert_ptr_null(answer_field(answer, "content-range"));
    answer_expect_field(answer, "content-length", text_print("%zu", answer->len));
    const char *at = answer->body, *boundary = mark + 9;
    for (size_t i = 0; i < count; i++) {
        size_t len = parts[i][1] - parts[i][0] + 1;
        const char *own = strstr(at, "content-type: ");
        ck_assert_ptr_nonnull(own);
        char *head =
            text_print("%s--%s\r\n%.*scontent-range: bytes %zu-%zu/%zu\r\n\r\n", i > 0 ? "\r\n" : "",
                       boundary, (int)(strstr(own, "\r\n") + 2 - own), own, parts[i][0], parts[i][1], size);
        ck_assert_msg(strncmp(at, head, strlen(head)) == 0, "%.300s", at);
        at += strlen(head);
        ck_assert_mem_eq(at, content + parts[i][0], len);
        at += len;
    }
    ck_assert_str_eq(at, text_print("\r\n--%s--\r\n", boundary));
    ck_assert_uint_eq((size_t)(at - answer->body) + strlen(at), answer->len);
}

START_TEST(case_34_two_ranges)
{
    static const size_t small[][2] = {{0, 3}, {8, 9}}, back[][2] = {{8, 9}, {0, 3}};
    static const size_t wide[][2] = {{100, 300000}, {5000000, 5200000}, {0, 0}};
    expect_parts(part((enum transport)_i, "/ten.txt", "bytes=0-3,8-9"), "0123456789", 10, small, 2);
    expect_parts(part((enum transport)_i, "/ten.txt", "bytes=8-9, 0-3, 70-"), "0123456789", 10, back, 2);
    answer_expect_text(part((enum transport)_i, "/ten.txt", "bytes=0-1,,30-40"), 206, "01");
    const char *range = "bytes=100-300000,5000000-5200000,0-0";
    expect_parts(part((enum transport)_i, "/middle.bin", range), middle, MIDDLE, wide, 3);
    expect_parts(part((enum transport)_i, "/large.bin", range), large, LARGE, wide, 3);
}
END_TEST

static char *repeated(int count, int step)
{
    char *text = text_print("bytes=");
    for (int i = 0; i < count; i++)
        text = step ? text_print("%s%s%d-%d", text, i ? "," : "", i * step, i * step)
                    : text_print("%s%s0-", text, i ? "," : "");
    return text;
}

START_TEST(case_34_abuse_gets_the_file_once)
{
    const char *const ranges[] = {repeated(200, 0), repeated(500, 2), repeated(17, 2), "bytes=0-,0-",
                                  "bytes=0-10,5-15"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        answer_expect_bytes(part((enum transport)_i, "/middle.bin", ranges[i]), 200, middle, MIDDLE);
        answer_expect_bytes(part((enum transport)_i, "/large.bin", ranges[i]), 200, large, LARGE);
    }
}
END_TEST

START_TEST(case_35_if_range)
{
    static const char *const paths[] = {"/middle.bin", "/large.bin"};
    static const char range[] = "Range: bytes=1-2";
    for (size_t i = 0; i < 2; i++) {
        const char *etag = answer_field(site_get(site, (enum transport)_i, paths[i]), "etag");
        const char *const bad[] = {"\"other\"",
                                   text_print("W/%s", etag),
                                   "Sun, 06 Nov 1994 08:49:37 GMT",
                                   "Fri, 31 Dec 2099 23:59:59 GMT",
                                   "nonsense",
                                   "*",
                                   text_print("%s, \"x\"", etag)};
        struct answer *answer =
            site_send(site, (enum transport)_i, NULL, paths[i],
                      (const char *const[]){range, text_print("If-Range: %s", etag), NULL});
        answer_expect_bytes(answer, 206, (i == 0 ? middle : large) + 1, 2);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            answer = site_send(site, (enum transport)_i, NULL, paths[i],
                               (const char *const[]){range, text_print("If-Range: %s", bad[k]), NULL});
            ck_assert_msg(answer->status == 200, "If-Range: %s\n%s", bad[k], answer->head);
        }
        /* Without Range it means nothing. */
        answer_expect(site_get_with(site, (enum transport)_i, paths[i], "If-Range: \"other\""), 200);
    }
}
END_TEST

START_TEST(case_35_if_range_by_date)
{
    static const char range[] = "Range: bytes=1-2";
    const struct timespec old[] = {{784111777, 0}, {784111777, 0}};
    folder_print(site->folder, text_print("public/dated%d.txt", _i), "dated");
    ck_assert_int_eq(
        utimensat(AT_FDCWD, folder_path(site->folder, text_print("public/dated%d.txt", _i)), old, 0), 0);
    const char *path = text_print("/dated%d.txt", _i);
    site_await_field(site, (enum transport)_i, path, "X-Not: x", "last-modified",
                     "Sun, 06 Nov 1994 08:49:37 GMT");
    static const char *const same[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                       "Sun Nov  6 08:49:37 1994"};
    for (size_t i = 0; i < 3; i++)
        answer_expect_text(site_send(site, (enum transport)_i, NULL, path,
                                     (const char *const[]){range, text_print("If-Range: %s", same[i]), NULL}),
                           206, "at");
    answer_expect(site_send(site, (enum transport)_i, NULL, path,
                            (const char *const[]){range, "If-Range: Sun, 06 Nov 1994 08:49:38 GMT", NULL}),
                  200);
}
END_TEST

START_TEST(two_range_lines_are_none)
{
    answer_expect_text(site_send(site, (enum transport)_i, NULL, "/ten.txt",
                                 (const char *const[]){"Range: bytes=0-1", "Range: bytes=2-3", NULL}),
                       200, "0123456789");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranges");
    TCase *tests = harness_case(suite, "ranges", setup, teardown);
    tcase_add_loop_test(tests, case_32_single_byte_ranges, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_32_nothing_of_an_empty_file, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_32_head_knows_no_ranges, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_32_parts_of_large_files, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_34_two_ranges, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_34_abuse_gets_the_file_once, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_35_if_range, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_35_if_range_by_date, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, two_range_lines_are_none, 0, TRANSPORT_COUNT);
    return harness_run(suite);
}
