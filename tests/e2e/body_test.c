/* Bodies: streamed, in memory, on disk, and what happens when the disk is full. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct server *server, *tls;

static struct folder *make_folder(void)
{
    static const char *const functions[] = {"echo", "stream", "keep", NULL};
    struct folder *folder = folder_create();
    for (size_t i = 0; functions[i] != NULL; i++)
        folder_add_function(folder, text_print("tests/e2e/functions/%s.c", functions[i]), functions[i]);
    folder_print(folder, "kept/old", "%s", "");
    folder_print(folder, "tmp/old", "%s", "");
    folder_print(folder, "apiconfig.yaml",
                 "global: { APIKEY: sesame }\n"
                 "functions: { autoMount: true }\n"
                 "REST:\n"
                 "  /api/stream: { path: stream.so }\n"
                 "  /api/private: { path: stream.so, isPrivate: true }\n"
                 "  /api/must: { path: stream.so, parametersList: [a] }\n"
                 "  /api/small: { path: stream.so, bodyLimit: 100k }\n");
    folder_add_certificate(folder);
    return folder;
}

static void setup(void)
{
    struct folder *folder = make_folder();
    const char *temporary = text_print("TMPDIR=%s/tmp", folder->path);
    server = server_start(folder, (const char *const[]){"BODY_MEMORY=4k", temporary, NULL});
    tls = server_start(folder, (const char *const[]){"BODY_MEMORY=4k", temporary, "SSL=1", "SSL_PORT=0",
                                                     text_print("SSL_CERT=%s/cert.pem", folder->path),
                                                     text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
}

static void teardown(void)
{
    server_stop(server);
    server_stop(tls);
}

static struct answer *post(int transport, const char *path, const char *type, const void *body, size_t len)
{
    return client_post(transport == HTTP1 ? server : tls, (enum transport)transport, path, type, body, len);
}

/* A form with one file in it, and the length of the whole. */
static char *form_of(const char *data, size_t len, size_t *ret_len)
{
    char *head = text_print("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n");
    char *form = malloc(strlen(head) + len + 10);
    size_t at = strlen(head);
    memcpy(form, head, at);
    memcpy(form + at, data, len);
    memcpy(form + at + len, "\r\n--b--\r\n", 9);
    *ret_len = at + len + 9;
    return form;
}

static size_t descriptors(const struct server *of)
{
    size_t count = 0;
    DIR *folder = opendir(text_print("/proc/%d/fd", (int)of->worker));
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Around the bound between memory and disk, and where a page ends exactly with the body: echo checks the NUL
 * behind it. */
START_TEST(whole_bodies_of_any_size)
{
    static const size_t sizes[] = {1, 4095, 4096, 4097, 8192, 65536, 65537, 1000000, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *bytes = bytes_make(sizes[i], (unsigned)i);
        json_t *echo = answer_json(post(_i, "/api/echo", "application/octet-stream", bytes, sizes[i]));
        json_t *body = json_object_get(echo, "body");
        ck_assert_int_eq(json_integer_value(json_object_get(body, "size")), (json_int_t)sizes[i]);
        ck_assert_str_eq(json_string_value(json_object_get(body, "digest")), bytes_digest(bytes, sizes[i]));
        free(bytes);
    }
}
END_TEST

START_TEST(files_of_any_size)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 300000, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t len;
        char *bytes = bytes_make(sizes[i] + 1, (unsigned)i), *form = form_of(bytes, sizes[i], &len);
        json_t *echo = answer_json(post(_i, "/api/echo", "multipart/form-data; boundary=b", form, len));
        json_t *file = json_object_get(json_array_get(json_object_get(echo, "files"), 0), "data");
        ck_assert_int_eq(json_integer_value(json_object_get(file, "size")), (json_int_t)sizes[i]);
        ck_assert_str_eq(json_string_value(json_object_get(file, "digest")), bytes_digest(bytes, sizes[i]));
        free(bytes);
        free(form);
    }
}
END_TEST

START_TEST(nothing_is_left_when_the_request_is_over)
{
    size_t len, before = descriptors(server);
    char *bytes = bytes_make(1 << 20, 1), *form = form_of(bytes, 1 << 20, &len);
    for (int i = 0; i < 20; i++)
        answer_expect(post(HTTP1, "/api/echo", "multipart/form-data; boundary=b", form, len), 200);
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    wire_send(wire, bytes, 50000);
    wire_reset(wire);
    answer_expect(post(HTTP1, "/api/echo", "text/plain", "x", 1), 200);
    ck_assert_uint_le(descriptors(server), before + 2);
}
END_TEST

START_TEST(a_streamed_body_arrives_in_pieces_and_whole)
{
    char *bytes = bytes_make(3 << 20, 9);
    struct answer *answer = post(_i, "/api/stream", "text/plain", bytes, 3 << 20);
    answer_expect_text(answer, 200, text_print("%d %s 0", 3 << 20, bytes_digest(bytes, 3 << 20)));
    answer_expect_text(post(_i, "/api/stream", "text/plain", "", 0), 200, "0 0000000000000000 0");
    free(bytes);
}
END_TEST

static struct answer *stream_with(int transport, const char *path, const char *field)
{
    const char *const fields[] = {field, NULL};
    static char body[200000];
    return client_send(transport == HTTP1 ? server : tls,
                       &(struct request){.transport = (enum transport)transport,
                                         .method = "POST",
                                         .path = path,
                                         .fields = fields,
                                         .body = body,
                                         .len = sizeof body});
}

START_TEST(a_function_refuses_the_rest)
{
    answer_expect(stream_with(_i, "/api/stream", "X-Return: 413"), 413);
    answer_expect(stream_with(_i, "/api/stream", "X-Return: 422"), 422);
    answer_expect(stream_with(_i, "/api/stream", "X-Return: 599"), 599);
    answer_expect(stream_with(_i, "/api/stream", "X-Return: 200"), 500);
    answer_expect(stream_with(_i, "/api/stream", "X-Return: -1"), 500);
    server_expect_log(_i == HTTP1 ? server : tls, (const char *const[]){".body returned -1", NULL});
}
END_TEST

START_TEST(the_route_is_asked_before_a_streamed_body_is_taken)
{
    answer_expect(stream_with(_i, "/api/private", "X-None: 1"), 403);
    answer_expect(stream_with(_i, "/api/private", "X-Api-Key: sesame"), 200);
    answer_expect(stream_with(_i, "/api/must", "X-None: 1"), 400);
    answer_expect(stream_with(_i, "/api/must?a=1", "X-None: 1"), 200);
    answer_expect(stream_with(_i, "/api/small", "X-None: 1"), 413);
}
END_TEST

/* As keep.c does. */
static unsigned sum_of(const char *bytes, size_t len)
{
    unsigned sum = 0;
    for (size_t i = 0; i < len; i++)
        sum = 31 * sum + (unsigned char)bytes[i];
    return sum;
}

START_TEST(a_file_is_kept)
{
    static const size_t sizes[] = {3, 100000};
    for (size_t i = 0; i < 2; i++) {
        size_t len, kept_len;
        char *bytes = bytes_make(sizes[i], (unsigned)i + 5), *form = form_of(bytes, sizes[i], &len);
        struct answer *answer = post(HTTP1, "/api/keep", "multipart/form-data; boundary=b", form, len);
        answer_expect_text(answer, 200,
                           text_print("0 %s %08x", i == 0 ? "memory" : "disk", sum_of(bytes, sizes[i])));
        char *kept = folder_read(server->folder, "kept/file.bin", &kept_len);
        ck_assert_uint_eq(kept_len, sizes[i]);
        ck_assert_mem_eq(kept, bytes, sizes[i]);
        answer = post(HTTP1, "/api/keep?to=/dev/shm/cloudgate-test-kept", "multipart/form-data; boundary=b",
                      form, len);
        answer_expect_text(answer, 200,
                           text_print("0 %s %08x", i == 0 ? "memory" : "disk", sum_of(bytes, sizes[i])));
        remove("/dev/shm/cloudgate-test-kept");
    }
}
END_TEST

START_TEST(a_file_that_can_not_be_kept_is_an_error)
{
    size_t len;
    char *form = form_of("abc", 3, &len);
    answer_expect_text(post(HTTP1, "/api/keep?to=none/x", "multipart/form-data; boundary=b", form, len), 200,
                       text_print("%d memory %08x", -ENOENT, sum_of("abc", 3)));
    answer_expect_text(post(HTTP1, "/api/keep?twice", "multipart/form-data; boundary=b", form, len), 200,
                       text_print("%d memory %08x", -EINVAL, 0));
    answer_expect_text(post(HTTP1, "/api/keep?to=kept", "multipart/form-data; boundary=b", form, len), 200,
                       text_print("%d memory %08x", -EISDIR, sum_of("abc", 3)));
}
END_TEST

/* Two megabytes of disk in a mount namespace of this test. */
START_TEST(a_full_disk_is_507_and_forgotten)
{
    struct folder *folder = make_folder();
    char *place = folder_path(folder, "tmp"), *bytes = bytes_make(5 << 20, 3);
    size_t len;
    char *form = form_of(bytes, 5 << 20, &len);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", place, "tmpfs", 0, "size=2m") != 0) {
        fprintf(stderr, "skipped: no mount namespace here\n");
        return;
    }
    struct server *full =
        server_start(folder, (const char *const[]){"BODY_MEMORY=4k", text_print("TMPDIR=%s", place), NULL});
    for (int i = 0; i < 3; i++) {
        answer_expect(client_post(full, HTTP1, "/api/echo", "text/plain", bytes, 5 << 20), 507);
        answer_expect(client_post(full, HTTP1, "/api/echo", "multipart/form-data; boundary=b", form, len),
                      507);
        answer_expect(client_post(full, HTTP1, "/api/echo", "text/plain", bytes, 1 << 20), 200);
    }
    server_expect_log(full, (const char *const[]){"the body can't be kept", "No space left", NULL});
    server_stop(full);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("body");
    TCase *bodies = harness_case(suite, "bodies", setup, teardown);
    tcase_add_loop_test(bodies, whole_bodies_of_any_size, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(bodies, files_of_any_size, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(bodies, a_streamed_body_arrives_in_pieces_and_whole, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(bodies, a_function_refuses_the_rest, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(bodies, the_route_is_asked_before_a_streamed_body_is_taken, HTTP1, HTTP2 + 1);
    tcase_add_test(bodies, nothing_is_left_when_the_request_is_over);
    tcase_add_test(bodies, a_file_is_kept);
    tcase_add_test(bodies, a_file_that_can_not_be_kept_is_an_error);
    TCase *disk = harness_case(suite, "disk", NULL, NULL);
    tcase_add_test(disk, a_full_disk_is_507_and_forgotten);
    return harness_run(suite);
}
