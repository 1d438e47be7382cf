/* Files that change while the server runs, and applications of one page. */
#include "site.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LARGE (24 << 20) /* more than is kept in memory, and than sockets take at once */
#define MIDDLE (4 << 20) /* kept in memory */

static struct site *site;

static void start(const char *const environment[])
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_print(folder, "public/404.html", "<p>lost</p>\n");
    folder_print(folder, "public/page.txt", "old\n");
    folder_print(folder, "public/gone.txt", "gone\n");
    folder_write(folder, "public/large.bin", bytes_make(LARGE, 1), LARGE);
    folder_write(folder, "public/middle.bin", bytes_make(MIDDLE, 1), MIDDLE);
    folder_print(folder, "apiconfig.yaml",
                 "global: { cacheDurationForStatic: 200 }\n"
                 "static: { cacheControl: { '/a/*': 'max-age=31536000, immutable' } }\n");
    site = site_start(folder, environment);
}

static void setup(void)
{
    start((const char *const[]){NULL});
}

static void setup_spa(void)
{
    start((const char *const[]){"IS_SPA=1", NULL});
}

static void teardown(void)
{
    site_stop(site);
}

static char *file(const char *name)
{
    return folder_path(site->folder, text_print("public/%s", name));
}

static void replace(const char *name, const void *data, size_t len)
{
    folder_write(site->folder, "public/.new", data, len);
    ck_assert_int_eq(rename(file(".new"), file(name)), 0);
}

START_TEST(case_28_files_come_and_go_while_running)
{
    enum transport transport = (enum transport)_i;
    const char *name = text_print("added%d/deep/x.txt", _i), *path = text_print("/%s", name);
    answer_expect_text(site_get(site, transport, path), 404, "<p>lost</p>\n");
    folder_print(site->folder, text_print("public/%s", name), "x");
    site_await(site, transport, path, 200, "x");
    folder_print(site->folder, text_print("public/added%d/deep/.env", _i), "secret");
    folder_print(site->folder, text_print("public/.well-known/tok%d", _i), "token");
    ck_assert_int_eq(symlink("/etc/passwd", file(text_print("added%d/passwd", _i))), 0);
    site_await(site, transport, text_print("/.well-known/tok%d", _i), 200, "token");
    answer_expect(site_get(site, transport, text_print("/added%d/deep/.env", _i)), 404);
    answer_expect(site_get(site, transport, text_print("/added%d/passwd", _i)), 404);
    folder_print(site->folder, text_print("public/added%d/index.html", _i), "index");
    site_await(site, transport, text_print("/added%d/", _i), 200, "index");
    answer_expect(site_get(site, transport, text_print("/added%d", _i)), 308);
    ck_assert_int_eq(unlink(file(name)), 0);
    site_await(site, transport, path, 404, "<p>lost</p>\n");
}
END_TEST

/* Same length, same second: nothing but the content tells them apart. */
START_TEST(a_file_changed_again_and_again_is_never_stale)
{
    enum transport transport = (enum transport)_i;
    const char *name = text_print("again%d.txt", _i), *path = text_print("/%s", name);
    const char *etag = "";
    for (int i = 0; i < 30; i++) {
        char *text = text_print("edit %02d\n", i);
        if (i % 3 == 0)
            replace(name, text, strlen(text));
        else
            folder_print(site->folder, text_print("public/%s", name), "%s", text);
        struct answer *answer = site_await(site, transport, path, 200, text);
        ck_assert_str_ne(answer_field(answer, "etag"), etag);
        etag = answer_field(answer, "etag");
        const char *date = answer_field(answer, "last-modified");
        if (date != NULL && i + 1 < 30) {
            char *next = text_print("edit %02d\n", i + 1);
            replace(name, next, strlen(next));
            site_await(site, transport, path, 200, next);
            answer_expect_text(
                site_get_with(site, transport, path, text_print("If-Modified-Since: %s", date)), 200, next);
            etag = answer_field(site_get(site, transport, path), "etag");
            i++;
        }
    }
}
END_TEST

/* Every answer is one of the contents, whole. */
START_TEST(an_answer_is_never_mixed)
{
    enum transport transport = (enum transport)_i;
    const char *name = text_print("mixed%d.bin", _i), *path = text_print("/%s", name);
    const size_t size = 300000;
    char *contents[4];
    for (int i = 0; i < 4; i++) {
        contents[i] = malloc(size);
        memset(contents[i], 'a' + i, size);
    }
    replace(name, contents[0], size);
    site_await(site, transport, path, 200, NULL);
    for (int i = 1; i < 60; i++) {
        replace(name, contents[i % 4], size);
        struct answer *answer = site_get(site, transport, path);
        ck_assert_uint_eq(answer->len, size);
        ck_assert_mem_eq(answer->body, contents[answer->body[0] - 'a'], size);
    }
}
END_TEST

/* ---- answers under way ---- */

struct slow {
    int fd;
    size_t length; /* as promised */
    char *data;    /* of the body */
    size_t len;
};

static bool take_some(struct slow *slow, size_t most)
{
    ssize_t got = recv(slow->fd, slow->data + slow->len, most, 0);
    if (got > 0)
        slow->len += (size_t)got;
    return got > 0;
}

/* Reads the head and leaves the rest in the sockets. */
static struct slow *begin_slowly(const char *path)
{
    struct slow *slow = calloc(1, sizeof *slow);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)site->plain->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_ptr_nonnull(slow);
    slow->data = malloc(LARGE + 65536);
    slow->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(setsockopt(slow->fd, SOL_SOCKET, SO_RCVBUF, &(int){65536}, sizeof(int)), 0);
    ck_assert_int_eq(connect(slow->fd, (struct sockaddr *)&address, sizeof address), 0);
    char *request = text_print("GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    ck_assert_int_eq(send(slow->fd, request, strlen(request), 0), (ssize_t)strlen(request));
    ck_assert(take_some(slow, 4096));
    const char *end = memmem(slow->data, slow->len, "\r\n\r\n", 4);
    const char *length = memmem(slow->data, slow->len, "content-length: ", 16);
    ck_assert(end != NULL && length != NULL);
    slow->length = strtoul(length + 16, NULL, 10);
    slow->len -= (size_t)(end + 4 - slow->data);
    memmove(slow->data, end + 4, slow->len);
    return slow;
}

static void read_to_end(struct slow *slow)
{
    while (take_some(slow, 65536) && slow->len <= slow->length)
        ;
    close(slow->fd);
}

START_TEST(an_answer_under_way_keeps_its_bytes)
{
    char *old = bytes_make(MIDDLE, 1), *new = bytes_make(MIDDLE, 7), *old_large = bytes_make(LARGE, 1);
    struct slow *slow = begin_slowly("/middle.bin"), *large = begin_slowly("/large.bin");
    replace("middle.bin", new, MIDDLE);
    replace("large.bin", new, MIDDLE);
    for (int i = 0; i < 500; i++) {
        struct answer *answer = site_get(site, HTTP1, i % 2 ? "/middle.bin" : "/large.bin");
        if (i > 2 && answer->len == MIDDLE && memcmp(answer->body, new, MIDDLE) == 0)
            break;
        ck_assert_int_lt(i, 499);
    }
    ck_assert_int_eq(unlink(file("middle.bin")), 0);
    site_await(site, HTTP1, "/middle.bin", 404, NULL);
    read_to_end(slow);
    ck_assert_uint_eq(slow->len, MIDDLE);
    ck_assert_mem_eq(slow->data, old, MIDDLE);
    read_to_end(large);
    ck_assert_uint_eq(large->len, LARGE);
    ck_assert_mem_eq(large->data, old_large, LARGE);
    replace("middle.bin", old, MIDDLE);
    replace("large.bin", old_large, LARGE);
}
END_TEST

/* What was promised can't be kept, so the connection breaks off: no padding, no other bytes. */
START_TEST(a_large_file_that_changes_is_broken_off)
{
    char *content = bytes_make(LARGE, 1);
    replace("broken.bin", content, LARGE);
    site_await(site, HTTP1, "/broken.bin", 200, NULL);
    struct slow *slow = begin_slowly("/broken.bin");
    if (_i == 0) {
        ck_assert_int_eq(truncate(file("broken.bin"), 20 << 20), 0);
    } else {
        int fd = open(file("broken.bin"), O_WRONLY | O_CLOEXEC);
        ck_assert_int_eq(pwrite(fd, "changed", 7, LARGE - 7), 7);
        close(fd);
    }
    read_to_end(slow);
    ck_assert_uint_eq(slow->length, LARGE);
    ck_assert_uint_lt(slow->len, LARGE);
    ck_assert_mem_eq(slow->data, content, slow->len);
}
END_TEST

/* Each look-up sees the file as it is at that moment. */
START_TEST(a_large_file_is_never_stale)
{
    enum transport transport = (enum transport)_i;
    const char *name = text_print("turn%d.bin", _i), *path = text_print("/%s", name);
    const size_t size = 9 << 20;
    const char *etag = "";
    replace(name, bytes_make(size, 9), size);
    site_await(site, transport, path, 200, NULL);
    for (unsigned i = 0; i < 8; i++) {
        char *content = bytes_make(size, 10 + i);
        replace(name, content, size);
        struct answer *answer = site_get(site, transport, path);
        answer_expect_bytes(answer, 200, content, size);
        ck_assert_str_ne(answer_field(answer, "etag"), etag);
        etag = answer_field(answer, "etag");
    }
    ck_assert_int_eq(unlink(file(name)), 0);
    answer_expect(site_get(site, transport, path), 404);
}
END_TEST

/* What takes the place of a large file has to be below the folder as well. */
START_TEST(case_23_a_large_file_does_not_turn_into_another)
{
    folder_write(site->folder, "secret.bin", bytes_make(LARGE, 5), LARGE);
    replace("turned.bin", bytes_make(LARGE, 4), LARGE);
    site_await(site, HTTP1, "/turned.bin", 200, NULL);
    for (int i = 0; i < 3; i++) {
        const char *const targets[] = {"/etc/passwd", "../secret.bin", site->folder->path};
        ck_assert_int_eq(unlink(file("turned.bin")), 0);
        ck_assert_int_eq(symlink(targets[i], file("turned.bin")), 0);
        answer_expect(site_get(site, HTTP1, "/turned.bin"), 404);
        replace("turned.bin", bytes_make(LARGE, 4), LARGE);
        site_await(site, HTTP1, "/turned.bin", 200, NULL);
    }
}
END_TEST

START_TEST(cache_control_by_pattern)
{
    folder_print(site->folder, "public/a/deep/x.html", "x");
    struct answer *answer = site_await(site, HTTP1, "/a/deep/x.html", 200, "x");
    answer_expect_field(answer, "cache-control", "max-age=31536000, immutable");
    answer_expect_field(site_get(site, HTTP1, "/index.html"), "cache-control", "max-age=5");
    answer_expect_field(site_get(site, HTTP1, "/page.txt"), "cache-control", "max-age=604800");
    ck_assert_ptr_null(answer_field(answer, "expires"));
}
END_TEST

START_TEST(an_application_of_one_page)
{
    static const char html[] = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
    enum transport transport = (enum transport)_i;
    struct answer *answer = site_get_with(site, transport, "/users/7?tab=2", html);
    answer_expect_text(answer, 200, "<p>home</p>\n");
    answer_expect_field(answer, "vary", "accept");
    answer_expect_field(answer, "content-type", "text/html; charset=utf-8");
    const char *etag = answer_field(answer, "etag");
    answer = site_send(site, transport, NULL, "/users/8",
                       (const char *const[]){html, text_print("If-None-Match: %s", etag), NULL});
    answer_expect_text(answer, 304, "");
    answer_expect_field(answer, "vary", "accept");
    answer_expect_text(site_send(site, transport, "HEAD", "/users/8", (const char *const[]){html, NULL}), 200,
                       "");
    answer = site_get_with(site, transport, "/users/7", "Accept: application/json");
    answer_expect_text(answer, 404, "<p>lost</p>\n");
    answer_expect_field(answer, "vary", "accept");
    answer_expect(site_get_with(site, transport, "/users/7", "Accept: */*"), 404);
    answer_expect(site_get_with(site, transport, "/users/7", "Accept: text/html;q=0"), 404);
    answer_expect(site_get_with(site, transport, "/app.js", html), 404);
    answer_expect(site_get_with(site, transport, "/.env", html), 404);
    ck_assert_ptr_null(answer_field(site_get_with(site, transport, "/page.txt", html), "vary"));
    answer_expect_text(site_get_with(site, transport, "/page.txt", html), 200, "old\n");
    ck_assert_int_ne(
        site_send(site, transport, "POST", "/users/7", (const char *const[]){html, NULL})->status, 200);
}
END_TEST

START_TEST(without_is_spa_there_is_none)
{
    answer_expect(site_get_with(site, (enum transport)_i, "/users/7", "Accept: text/html"), 404);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refresh");
    TCase *tests = harness_case(suite, "refresh", setup, teardown);
    tcase_add_loop_test(tests, case_28_files_come_and_go_while_running, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, a_file_changed_again_and_again_is_never_stale, 0, TRANSPORT_COUNT);
    tcase_add_loop_test(tests, an_answer_is_never_mixed, 0, TRANSPORT_COUNT);
    tcase_add_test(tests, an_answer_under_way_keeps_its_bytes);
    tcase_add_loop_test(tests, a_large_file_that_changes_is_broken_off, 0, 2);
    tcase_add_loop_test(tests, a_large_file_is_never_stale, 0, TRANSPORT_COUNT);
    tcase_add_test(tests, case_23_a_large_file_does_not_turn_into_another);
    tcase_add_test(tests, cache_control_by_pattern);
    tcase_add_loop_test(tests, without_is_spa_there_is_none, 0, TRANSPORT_COUNT);
    TCase *spa = harness_case(suite, "one page", setup_spa, teardown);
    tcase_add_loop_test(spa, an_application_of_one_page, 0, TRANSPORT_COUNT);
    return harness_run(suite);
}
