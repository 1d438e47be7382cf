/* Bodies far larger than memory should hold: what a server needs does not grow with them. LOAD_STREAM_MB and
   LOAD_FORM_MB: how large. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOST "Host: x.test\r\n"
#define PIECE (256 * 1024)
#define MEMORY_KB 8192 /* that a body may take while it comes in */

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "apiconfig.yaml",
                 "REST:\n"
                 "  /api/ingest: {path: ingest, method: post, bodyLimit: 16GB}\n"
                 "  /api/upload: {path: upload, method: post, bodyLimit: 16GB}\n");
    folder_add_function(folder, "tests/load/functions/ingest.c", "ingest");
    folder_add_function(folder, "tests/stories/upload.c", "upload");
    server = server_start(folder, (const char *const[]){"BODY_MEMORY=1MB", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static bool send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* In a process of its own: head, as many bytes as are asked for, tail. */
static pid_t upload(int fd, const char *head, uint64_t len, const char *tail)
{
    static char piece[PIECE];
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child != 0)
        return child;
    bool good = send_all(fd, head, strlen(head));
    for (uint64_t sent = 0; good && sent < len; sent += PIECE)
        good = send_all(fd, piece, len - sent < PIECE ? (size_t)(len - sent) : PIECE);
    _exit(good && send_all(fd, tail, strlen(tail)) ? 0 : 1);
}

/* The most that was resident while the child ran. */
static long watch(pid_t child)
{
    long most = 0;
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        long rss = measure_rss(server);
        most = rss > most ? rss : most;
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    }
    ck_assert_int_eq(status, 0);
    return most;
}

static char *receive(int fd)
{
    static char answer[4096];
    size_t len = 0;
    ssize_t got;
    while ((got = recv(fd, answer + len, sizeof answer - 1 - len, 0)) > 0)
        len += (size_t)got;
    close(fd);
    answer[len] = '\0';
    return answer;
}

static void send_body(const char *what, const char *head, uint64_t len, const char *tail,
                      const char *expected)
{
    long before = measure_rss(server);
    size_t descriptors = measure_descriptors(server);
    int fd = measure_connect(server, 0);
    int64_t start = measure_now();
    long most = watch(upload(fd, head, len, tail));
    char *answer = receive(fd);
    double seconds = (double)(measure_now() - start) / 1e6;
    printf("%s: %.0f MB in %.1f s, %.0f MB/s; RSS %ld -> %ld -> %ld kB\n", what, (double)len / 1e6, seconds,
           (double)len / 1e6 / seconds, before, most, measure_rss(server));
    ck_assert_msg(strncmp(answer, "HTTP/1.1 200 ", 13) == 0 && strstr(answer, expected) != NULL, "%s",
                  answer);
    ck_assert_int_le(most, before + MEMORY_KB);
    ck_assert_int_le(measure_rss(server), before + MEMORY_KB);
    ck_assert_uint_le(measure_descriptors(server), descriptors);
}

START_TEST(a_streamed_body_of_any_size)
{
    uint64_t len = (uint64_t)measure_option("LOAD_STREAM_MB", 256) << 20;
    send_body("streamed",
              text_print("POST /api/ingest HTTP/1.1\r\n" HOST
                         "Connection: close\r\nContent-Length: %llu\r\n\r\n",
                         (unsigned long long)len),
              len, "", text_print("\r\n\r\n%llu", (unsigned long long)len));
}
END_TEST

START_TEST(a_form_of_any_size)
{
    static const char part[] = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n",
                      tail[] = "\r\n--b--\r\n";
    uint64_t len = (uint64_t)measure_option("LOAD_FORM_MB", 256) << 20;
    send_body("form",
              text_print("POST /api/upload HTTP/1.1\r\n" HOST "Connection: close\r\nContent-Length: %llu\r\n"
                         "Content-Type: multipart/form-data; boundary=b\r\n\r\n%s",
                         (unsigned long long)len + strlen(part) + strlen(tail), part),
              len, tail, text_print("file f x  %llu ", (unsigned long long)len));
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    Suite *suite = suite_create("upload");
    TCase *uploads = harness_case(suite, "uploads", setup, teardown);
    tcase_add_test(uploads, a_streamed_body_of_any_size);
    tcase_add_test(uploads, a_form_of_any_size);
    tcase_set_timeout(uploads, 600);
    return harness_run(suite);
}
