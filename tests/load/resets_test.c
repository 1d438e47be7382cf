/* 100,000 requests that are cancelled as soon as they are made (CVE-2023-44487), on one connection and again
   on the next: each is ended, nobody else may feel it, and nothing stays behind. Times are asserted here, so
   the machine should have little else to do. */
#include "measure.h"
#include "tests/e2e/frames.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS 100000
#define FRAME_HEAD 9
#define PAUSE_US \
    50000 /* between two connections: what is asked is what a flood costs others, not a full CPU */
#define MEMORY_KB 4096

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    server = server_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    server_stop(server);
}

/* ---- the flood ---- */

struct flood {
    unsigned char *bytes;
    size_t len, size;
};

static void add(struct flood *flood, const void *bytes, size_t len)
{
    if (flood->len + len > flood->size) {
        flood->size = 2 * flood->size + len;
        flood->bytes = realloc(flood->bytes, flood->size);
        ck_assert_ptr_nonnull(flood->bytes);
    }
    memcpy(flood->bytes + flood->len, bytes, len);
    flood->len += len;
}

static void add_frame(struct flood *flood, unsigned type, unsigned flags, uint32_t stream,
                      const void *payload, size_t len)
{
    const unsigned char head[FRAME_HEAD] = {
        (unsigned char)(len >> 16),    (unsigned char)(len >> 8),    (unsigned char)len,
        (unsigned char)type,           (unsigned char)flags,         (unsigned char)(stream >> 24),
        (unsigned char)(stream >> 16), (unsigned char)(stream >> 8), (unsigned char)stream};
    add(flood, head, sizeof head);
    add(flood, payload, len);
}

static struct flood make_flood(void)
{
    static const unsigned char cancel[4] = {0, 0, 0, NGHTTP2_CANCEL};
    static struct block block;
    struct flood flood = {0};
    block_request(&block, "GET", "/");
    add(&flood, FRAMES_PREFACE, sizeof FRAMES_PREFACE - 1);
    add_frame(&flood, NGHTTP2_SETTINGS, 0, 0, "", 0);
    for (uint32_t stream = 1; stream < 2 * REQUESTS; stream += 2) {
        add_frame(&flood, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, stream,
                  block.bytes, block.len);
        add_frame(&flood, NGHTTP2_RST_STREAM, 0, stream, cancel, sizeof cancel);
    }
    return flood;
}

/* Whether what the server sent ends with the GOAWAY that such a client deserves. */
static bool tells_to_calm_down(const unsigned char *bytes, size_t len)
{
    static const unsigned char calm[4] = {0, 0, 0, NGHTTP2_ENHANCE_YOUR_CALM};
    bool told = false;
    for (size_t at = 0, size; at + FRAME_HEAD <= len; at += size) {
        const unsigned char *frame = bytes + at;
        size = FRAME_HEAD + ((size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2]);
        if (frame[3] == NGHTTP2_GOAWAY && at + size <= len && size >= FRAME_HEAD + 8)
            told = memcmp(frame + FRAME_HEAD + 4, calm, sizeof calm) == 0;
    }
    return told;
}

/* Sends all that the server takes, until it ends the connection. */
static bool is_ended(const struct flood *flood)
{
    static unsigned char answer[1 << 20];
    int fd = measure_connect(server, 0);
    size_t len = 0;
    for (size_t sent = 0; sent < flood->len;) {
        ssize_t got = send(fd, flood->bytes + sent, flood->len - sent, MSG_NOSIGNAL);
        if (got < 0)
            break;
        sent += (size_t)got;
    }
    for (ssize_t got; len < sizeof answer && (got = recv(fd, answer + len, sizeof answer - len, 0)) > 0;)
        len += (size_t)got;
    close(fd);
    return tells_to_calm_down(answer, len);
}

/* In a process of its own, until it is told to end: the status is 0 when each connection was ended. */
static volatile sig_atomic_t enough;

static void on_term(int number)
{
    (void)number;
    enough = 1;
}

static int flood_on(const struct flood *flood)
{
    unsigned connections = 0;
    bool ended = true;
    while (!enough && ended) {
        ended = is_ended(flood);
        connections++;
        nanosleep(&(struct timespec){0, PAUSE_US * 1000}, NULL);
    }
    printf("%u connections\n", connections);
    fflush(stdout);
    return ended ? 0 : 1;
}

static pid_t start_flood(const struct flood *flood)
{
    signal(SIGTERM, on_term);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(flood_on(flood));
    return child;
}

START_TEST(rapid_resets_cost_nobody_anything)
{
    int status;
    size_t descriptors;
    const struct flood flood = make_flood();
    ck_assert(is_ended(&flood));
    struct latency alone = measure_best_latency(server, "/", &descriptors);
    long rss = measure_rss(server);
    pid_t child = start_flood(&flood);
    struct latency with = measure_best_latency(server, "/", &descriptors);
    kill(child, SIGTERM);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    printf("p50 %ld -> %ld us, p99 %ld -> %ld us; RSS %ld -> %ld kB\n", alone.p50, with.p50, alone.p99,
           with.p99, rss, measure_rss(server));
    ck_assert_msg(status == 0, "a flood was not answered with GOAWAY");
    ck_assert_int_le(measure_rss(server), rss + MEMORY_KB);
    ck_assert_int_le(with.p99, 2 * alone.p99);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    Suite *suite = suite_create("resets");
    TCase *resets = harness_case(suite, "resets", setup, teardown);
    tcase_add_test(resets, rapid_resets_cost_nobody_anything);
    tcase_set_timeout(resets, 120);
    return harness_run(suite);
}
