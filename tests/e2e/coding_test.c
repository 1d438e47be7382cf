/* Content codings, of files and of what functions answer, over each protocol. */
#include "site.h"

#include <stdlib.h>
#include <string.h>

#define GZIP "Accept-Encoding: gzip"
#define BROTLI "Accept-Encoding: br"
#define IDENTITY "Accept-Encoding: identity"

static struct site *site;
static char *page;

static void setup(void)
{
    struct folder *folder = folder_create();
    page = text_print("%s", "");
    for (int i = 0; i < 200; i++)
        page = text_print("%s<p>line %d of a page</p>\n", page, i);
    folder_print(folder, "public/index.html", "%s", page);
    folder_print(folder, "public/small.html", "<p>small</p>\n");
    folder_print(folder, "public/beside.html", "%s", page);
    folder_write(folder, "public/photo.jpg", bytes_make(3000, 1), 3000);
    run_command((const char *const[]){"gzip", "-1", "-k", folder_path(folder, "public/beside.html"), NULL});
    folder_add_function(folder, "tests/e2e/functions/text.c", "text");
    folder_add_function(folder, "tests/e2e/functions/text.c", "plain");
    folder_print(folder, "apiconfig.yaml", "REST:\n  /api/plain: { path: plain.so, compress: false }\n");
    site = site_start(folder, (const char *const[]){NULL});
    for (int transport = 0; transport < 2; transport++) { /* one of each server */
        site_await_field(site, (enum transport)transport, "/", BROTLI, "content-encoding", "br");
        site_await_field(site, (enum transport)transport, "/beside.html", GZIP, "content-encoding", "gzip");
    }
}

static void teardown(void)
{
    site_stop(site);
}

static void expect_page(const struct answer *answer, const char *coding)
{
    size_t len;
    answer_expect(answer, 200);
    answer_expect_field(answer, "vary", "accept-encoding");
    if (coding == NULL)
        ck_assert_ptr_null(answer_field(answer, "content-encoding"));
    else
        answer_expect_field(answer, "content-encoding", coding);
    ck_assert_str_eq(answer_unpack(answer, &len), page);
    ck_assert_uint_eq(len, strlen(page));
}

START_TEST(case_37_each_form_has_its_own_tag)
{
    enum transport transport = (enum transport)_i;
    static const char *const fields[] = {IDENTITY, GZIP, BROTLI}, *const codings[] = {NULL, "gzip", "br"};
    const char *etags[3];
    for (size_t i = 0; i < 3; i++) {
        struct answer *answer = site_get_with(site, transport, "/", fields[i]);
        expect_page(answer, codings[i]);
        etags[i] = answer_field(answer, "etag");
        ck_assert_int_eq(etags[i][0], '"');
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct answer *answer =
                site_send(site, transport, NULL, "/",
                          (const char *const[]){fields[i], text_print("If-None-Match: %s", etags[k]), NULL});
            answer_expect_field(answer, "vary", "accept-encoding");
            answer_expect_field(answer, "etag", etags[i]);
            if (i == k)
                answer_expect_text(answer, 304, "");
            else
                expect_page(answer, codings[i]);
        }
    }
}
END_TEST

START_TEST(case_37_ranges_are_of_the_form_they_name)
{
    enum transport transport = (enum transport)_i;
    static const char *const fields[] = {IDENTITY, GZIP, BROTLI};
    for (size_t i = 0; i < 3; i++) {
        struct answer *whole = site_get_with(site, transport, "/", fields[i]);
        const char *etag = answer_field(whole, "etag");
        struct answer *part = site_send(
            site, transport, NULL, "/",
            (const char *const[]){fields[i], "Range: bytes=10-29", text_print("If-Range: %s", etag), NULL});
        answer_expect_bytes(part, 206, whole->body + 10, 20);
        answer_expect_field(part, "content-range", text_print("bytes 10-29/%zu", whole->len));
        answer_expect_field(part, "etag", etag);
        answer_expect_field(part, "vary", "accept-encoding");
        ck_assert(!answer_field(part, "content-encoding") == (i == 0));
        struct answer *other = site_send(site, transport, NULL, "/",
                                         (const char *const[]){fields[(i + 1) % 3], "Range: bytes=10-29",
                                                               text_print("If-Range: %s", etag), NULL});
        answer_expect(other, 200); /* of another form, so no part of it */
    }
}
END_TEST

START_TEST(case_37_head_and_what_does_not_vary)
{
    enum transport transport = (enum transport)_i;
    struct answer *head = site_send(site, transport, "HEAD", "/", (const char *const[]){GZIP, NULL});
    struct answer *get = site_get_with(site, transport, "/", GZIP);
    answer_expect_text(head, 200, "");
    answer_expect_field(head, "content-encoding", "gzip");
    answer_expect_field(head, "content-length", text_print("%zu", get->len));
    static const char *const paths[] = {"/small.html", "/photo.jpg", "/beside.html.gz"};
    for (size_t i = 0; i < 3; i++) {
        struct answer *answer = site_get_with(site, transport, paths[i], GZIP);
        ck_assert_ptr_null(answer_field(answer, "content-encoding"));
        ck_assert_ptr_null(answer_field(answer, "vary"));
    }
}
END_TEST

START_TEST(what_lies_beside_a_file_is_taken)
{
    enum transport transport = (enum transport)_i;
    size_t len;
    char *packed = folder_read(site->folder, "public/beside.html.gz", &len);
    struct answer *answer = site_get_with(site, transport, "/beside.html", GZIP);
    answer_expect_bytes(answer, 200, packed, len);
    answer_expect_field(answer, "content-type", "text/html; charset=utf-8");
    answer_expect_bytes(site_get(site, transport, "/beside.html.gz"), 200, packed, len);
}
END_TEST

START_TEST(case_38_weights)
{
    static const struct {
        const char *field, *coding;
    } rows[] = {
        {"gzip;q=0", NULL},
        {"gzip;q=0, *", NULL},
        {"*;q=0", NULL},
        {"identity;q=0", NULL},
        {"GZIP", "gzip"},
        {"x-gzip", "gzip"},
        {"gzipped", NULL},
        {"identity;q=1, gzip;q=0.5", NULL},
        {"gzip;q=0.000", NULL},
        {"gzip ; q=0.5;level=6", "gzip"},
        {"br", "br"},
        {"gzip;q=", NULL},
        {"gzip, deflate, br, zstd", "br"},
        {"gzip;q=1, br;q=0.5", "gzip"},
        {"gzip;q=0.5, br;q=0.6", "br"},
    };
    enum transport transport = (enum transport)_i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *field = text_print("Accept-Encoding: %s", rows[i].field);
        expect_page(site_get_with(site, transport, "/", field), rows[i].coding);
        struct answer *answer = site_get_with(site, transport, "/api/text?size=5000", field);
        const char *coding = answer_field(answer, "content-encoding");
        ck_assert_msg(rows[i].coding ? coding && strcmp(coding, rows[i].coding) == 0 : coding == NULL,
                      "%s: %s", field, answer->head);
    }
    expect_page(site_get_with(site, transport, "/", "Accept-Encoding;"), NULL); /* empty */
    expect_page(site_get(site, transport, "/"), NULL);
    expect_page(site_send(site, transport, NULL, "/",
                          (const char *const[]){"Accept-Encoding: br;q=0.1", "Accept-Encoding: gzip", NULL}),
                "gzip");
}
END_TEST

static struct answer *text(const char *query, const char *field)
{
    return site_get_with(site, HTTP1, text_print("/api/text?%s", query), field);
}

START_TEST(answers_of_functions_are_compressed)
{
    enum transport transport = (enum transport)_i;
    static const char *const fields[] = {GZIP, BROTLI, IDENTITY}, *const codings[] = {"gzip", "br", NULL};
    struct answer *plain = site_get(site, transport, "/api/text?size=100000");
    ck_assert_uint_eq(plain->len, 100000);
    answer_expect_field(plain, "vary", "accept-encoding");
    for (size_t i = 0; i < 3; i++) {
        size_t len;
        struct answer *answer = site_get_with(site, transport, "/api/text?size=100000", fields[i]);
        answer_expect_field(answer, "vary", "accept-encoding");
        answer_expect_field(answer, "content-length", text_print("%zu", answer->len));
        if (codings[i] != NULL)
            answer_expect_field(answer, "content-encoding", codings[i]);
        char *body = answer_unpack(answer, &len);
        ck_assert_uint_eq(len, 100000);
        ck_assert_mem_eq(body, plain->body, len);
        ck_assert((answer->len < 10000) == (codings[i] != NULL));
    }
    ck_assert_ptr_nonnull(
        answer_field(text("size=1024&type=application/json;charset=utf-8", GZIP), "content-encoding"));
    ck_assert_ptr_nonnull(answer_field(text("size=2000&h=etag:W/%22x%22", GZIP), "content-encoding"));
    answer_expect_field(text("size=2000&h=vary:origin,+Accept-Encoding", GZIP), "vary",
                        "origin, Accept-Encoding");
    ck_assert_uint_eq(answer_count(text("size=2000&h=vary:origin", GZIP), "vary"), 2);
}
END_TEST

START_TEST(answers_that_stay_as_they_are)
{
    static const char *const queries[] = {
        "size=1023",
        "size=0",
        "size=5000&type=image/png",
        "size=5000&type=application/octet-stream",
        "size=5000&type=text/event-stream",
        "size=5000&h=content-encoding:identity",
        "size=5000&h=etag:%22strong%22",
        "size=5000&h=cache-control:max-age=3,+No-Transform",
        "size=5000&h=content-range:bytes+0-4999/5000",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct answer *with = text(queries[i], GZIP), *without = text(queries[i], IDENTITY);
        ck_assert_msg(with->len == without->len && memcmp(with->body, without->body, with->len) == 0, "%s",
                      queries[i]);
        ck_assert_msg(answer_field(with, "vary") == NULL, "%s: %s", queries[i], with->head);
    }
    struct answer *plain = site_get_with(site, HTTP1, "/api/plain?size=5000", GZIP);
    ck_assert_uint_eq(plain->len, 5000);
    ck_assert_ptr_null(answer_field(plain, "vary"));
    struct answer *huge = text("size=2000000", GZIP); /* too much to be done in between */
    ck_assert_uint_eq(huge->len, 2000000);
    answer_expect_field(huge, "vary", "accept-encoding");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coding");
    TCase *tests = harness_case(suite, "coding", setup, teardown);
    tcase_add_loop_test(tests, case_37_each_form_has_its_own_tag, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_37_ranges_are_of_the_form_they_name, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_37_head_and_what_does_not_vary, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, what_lies_beside_a_file_is_taken, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_38_weights, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, answers_of_functions_are_compressed, 0, TRANSPORT_COUNT);
    tcase_add_test(tests, answers_that_stay_as_they_are);
    return harness_run(suite);
}
