/* Preconditions on files, in their order of precedence, over each protocol. */
#include "site.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODIFIED "Sun, 06 Nov 1994 08:49:37 GMT"
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define AFTER "Sun, 06 Nov 1994 08:49:38 GMT"
#define FUTURE "Fri, 31 Dec 2099 23:59:59 GMT"
#define LARGE (9 << 20) /* more than is kept in memory */

static struct site *site;
static const char *const paths[] = {"/page.css", "/large.bin"};

static void setup(void)
{
    static const struct timespec times[] = {{784111777, 0}, {784111777, 0}};
    struct folder *folder = folder_create();
    folder_print(folder, "public/page.css", "p{}\n");
    folder_write(folder, "public/large.bin", bytes_make(LARGE, 1), LARGE);
    folder_print(folder, "public/404.html", "lost");
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(utimensat(AT_FDCWD, folder_path(folder, text_print("public%s", paths[i])), times, 0),
                         0);
    site = site_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    site_stop(site);
}

/* ETAG in a field stands for the file's tag. */
static const char *fill_in(const char *field, const char *etag)
{
    const char *at = field ? strstr(field, "ETAG") : NULL;
    return at ? text_print("%.*s%s%s", (int)(at - field), field, etag, at + 4) : field;
}

static const struct {
    int status;
    const char *fields[3];
} rows[] = {
    /* If-Match: strong comparison, lists, several lines */
    {200, {"If-Match: ETAG"}},
    {200, {"If-Match: *"}},
    {200, {"If-Match: \"a\", ETAG, W/\"b\""}},
    {200, {"If-Match: \"a\"", "If-Match: ETAG"}},
    {412, {"If-Match: \"a\""}},
    {412, {"If-Match: W/ETAG"}},
    {412, {"If-Match: nonsense"}},
    {412, {"If-Match:  \"a\"", "If-Match: \"b\""}},
    /* If-Unmodified-Since: only without If-Match, only when it is a date */
    {200, {"If-Unmodified-Since: " MODIFIED}},
    {200, {"If-Unmodified-Since: " AFTER}},
    {412, {"If-Unmodified-Since: " BEFORE}},
    {412, {"If-Unmodified-Since: Sun Nov  6 08:49:36 1994"}},
    {412, {"If-Unmodified-Since: Sunday, 06-Nov-94 08:49:36 GMT"}},
    {200, {"If-Unmodified-Since: yesterday"}},
    {200, {"If-Match: ETAG", "If-Unmodified-Since: " BEFORE}},
    {412, {"If-Match: \"a\"", "If-Unmodified-Since: " AFTER}},
    {200, {"If-Unmodified-Since: " BEFORE, "If-Unmodified-Since: " BEFORE}},
    /* If-None-Match: weak comparison, lists, several lines; switches If-Modified-Since off */
    {304, {"If-None-Match: ETAG"}},
    {304, {"If-None-Match: W/ETAG"}},
    {304, {"If-None-Match: *"}},
    {304, {"If-None-Match: \"zzz\", W/ETAG, \"y,y\""}},
    {304, {"If-None-Match: \"zzz\"", "If-None-Match: ETAG"}},
    {200, {"If-None-Match: \"zzz\""}},
    {200, {"If-None-Match: \"zzz\"", "If-Modified-Since: " FUTURE}},
    {304, {"If-None-Match: ETAG", "If-Modified-Since: " BEFORE}},
    /* If-Modified-Since */
    {304, {"If-Modified-Since: " MODIFIED}},
    {304, {"If-Modified-Since: " FUTURE}},
    {304, {"If-Modified-Since: Sun Nov  6 08:49:37 1994"}},
    {304, {"If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"}},
    {200, {"If-Modified-Since: " BEFORE}},
    {200, {"If-Modified-Since: garbage"}},
    {200, {"If-Modified-Since: " MODIFIED, "If-Modified-Since: " MODIFIED}},
    /* 412 comes before 304, and both before a range */
    {412, {"If-Match: \"a\"", "If-None-Match: ETAG"}},
    {412, {"If-Unmodified-Since: " BEFORE, "If-None-Match: ETAG"}},
    {304, {"If-Match: ETAG", "If-None-Match: ETAG"}},
    {304, {"Range: bytes=0-1", "If-None-Match: ETAG"}},
    {412, {"Range: bytes=0-1", "If-Match: \"a\""}},
    {206, {"Range: bytes=0-1", "If-Match: ETAG"}},
    {412, {"Range: bytes=99999999-", "If-Match: \"a\""}},
};

START_TEST(case_36_preconditions)
{
    enum transport transport = (enum transport)_i;
    for (size_t p = 0; p < 2; p++) {
        const char *etag = answer_field(site_get(site, transport, paths[p]), "etag");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *const fields[] = {fill_in(rows[i].fields[0], etag), fill_in(rows[i].fields[1], etag),
                                          NULL};
            struct answer *answer = site_send(site, transport, "HEAD", paths[p], fields);
            int expected = rows[i].status == 206 ? 200 : rows[i].status;
            ck_assert_msg(answer->status == expected, "%s\n%s\n%s", fields[0], fields[1] ? fields[1] : "",
                          answer->head);
            answer = site_send(site, transport, "GET", paths[p], fields);
            ck_assert_msg(answer->status == rows[i].status, "%s\n%s\n%s", fields[0],
                          fields[1] ? fields[1] : "", answer->head);
            if (answer->status != 412)
                answer_expect_field(answer, "etag", etag);
        }
    }
}
END_TEST

START_TEST(case_36_a_304_has_what_the_200_has)
{
    static const char *const names[] = {"etag", "last-modified", "cache-control"};
    for (size_t p = 0; p < 2; p++) {
        struct answer *whole = site_get(site, (enum transport)_i, paths[p]);
        struct answer *same = site_get_with(site, (enum transport)_i, paths[p], "If-None-Match: *");
        answer_expect_text(same, 304, "");
        for (size_t i = 0; i < 3; i++)
            answer_expect_field(same, names[i], answer_field(whole, names[i]));
        answer_expect_field(same, "last-modified", MODIFIED);
        ck_assert_ptr_nonnull(answer_field(same, "date"));
    }
}
END_TEST

START_TEST(preconditions_are_of_what_is_there)
{
    answer_expect_text(site_get_with(site, (enum transport)_i, "/missing", "If-Match: \"a\""), 404, "lost");
    answer_expect_text(site_get_with(site, (enum transport)_i, "/missing", "If-None-Match: *"), 404, "lost");
    answer_expect_text(site_get_with(site, (enum transport)_i, "/missing", "Range: bytes=0-1"), 404, "lost");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conditions");
    TCase *tests = harness_case(suite, "conditions", setup, teardown);
    tcase_add_loop_test(tests, case_36_preconditions, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, case_36_a_304_has_what_the_200_has, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, preconditions_are_of_what_is_there, 0, TRANSPORT_COUNT);
    return harness_run(suite);
}
