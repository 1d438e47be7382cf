/* Slow clients by the hundred: nobody else may feel them, each is gone in its time, and nothing stays behind.
   Times are asserted here, so the machine should have little else to do. LOAD_CLIENTS: how many of each kind;
   LOAD_TIMEOUT: the deadlines in seconds. */
#include "measure.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOST "Host: x.test\r\n"
#define LARGE_SIZE (7 << 20) /* more than the kernel keeps for a client that does not read */
#define ROUND_MS 3000        /* a slow client does something once in each */
#define TICKS 300            /* of a round, in which they take turns */
#define MARGIN_S 8           /* for looks that are taken some times in a timeout, and for the machine */
#define FIRST_CROWD_KB                                                                                    \
    12288                  /* that the allocator may keep: 8 kB for each of a thousand requests, and some \
                            */
#define NEXT_CROWD_KB 4096 /* and once more, because the loops share the next crowd out in another way */

enum kind { SLOW_HEAD, SLOW_BODY, SLOW_READER, KINDS };

struct client {
    int fd; /* -1: gone */
    enum kind kind;
    int64_t start; /* us */
};

static struct server *server;
static long clients_each, timeout;

static void setup(void)
{
    struct folder *folder = folder_create();
    measure_raise_limits();
    clients_each = measure_option("LOAD_CLIENTS", 500);
    timeout = measure_option("LOAD_TIMEOUT", 10);
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_write(folder, "public/large.bin", bytes_make(LARGE_SIZE, 1), LARGE_SIZE);
    folder_add_function(folder, "tests/load/functions/ingest.c", "ingest");
    const char *const environment[] = {text_print("HEADER_TIMEOUT=%lds", timeout),
                                       text_print("BODY_TIMEOUT=%lds", timeout),
                                       text_print("WRITE_TIMEOUT=%lds", timeout),
                                       text_print("MIN_RATE_AFTER=%lds", timeout),
                                       "WRITE_MIN_RATE=64k",
                                       "VERBOSE=1",
                                       NULL};
    server = server_start(folder, environment);
}

static void teardown(void)
{
    server_stop(server);
    for (char *line = strstr(server_errors(server), "loop "); line != NULL; line = strstr(line + 1, "loop "))
        printf("%.*s\n", (int)strcspn(line, "\n"), line);
}

static void begin(struct client *client, enum kind kind)
{
    static const char *const starts[KINDS] = {
        [SLOW_HEAD] = "GET / HTTP/1.1\r\n" HOST "X: ",
        [SLOW_BODY] = "POST /api/ingest HTTP/1.1\r\n" HOST "Content-Length: 10000000\r\n\r\n",
        [SLOW_READER] = "GET /large.bin HTTP/1.1\r\n" HOST "\r\n",
    };
    *client = (struct client){.fd = measure_connect(server, kind == SLOW_READER ? 4096 : 0), .kind = kind};
    client->start = measure_now();
    ck_assert_int_gt(send(client->fd, starts[kind], strlen(starts[kind]), MSG_NOSIGNAL), 0);
}

/* One more byte sent, or a few taken. false: the server wants no more of it. */
static bool dawdle(const struct client *client)
{
    char buffer[1024];
    if (client->kind != SLOW_READER && send(client->fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return errno == EAGAIN;
    ssize_t got = recv(client->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN;
    return client->kind == SLOW_READER && got > 0;
}

struct crowd {
    struct client *clients;
    struct pollfd *polled; /* the same, for their ends */
    size_t count, left;
    int64_t longest[KINDS]; /* life, in us */
};

static void bury(struct crowd *crowd, size_t i)
{
    struct client *client = &crowd->clients[i];
    int64_t life = measure_now() - client->start, *longest = &crowd->longest[client->kind];
    *longest = life > *longest ? life : *longest;
    close(client->fd);
    client->fd = crowd->polled[i].fd = -1;
    crowd->left--;
}

static void look_for_ends(struct crowd *crowd)
{
    poll(crowd->polled, crowd->count, ROUND_MS / TICKS);
    for (size_t i = 0; i < crowd->count; i++)
        if (crowd->clients[i].fd >= 0 && crowd->polled[i].revents != 0)
            bury(crowd, i);
}

static struct crowd gather(void)
{
    struct crowd crowd = {.count = (size_t)clients_each * KINDS};
    crowd.left = crowd.count;
    crowd.clients = calloc(crowd.count, sizeof *crowd.clients);
    crowd.polled = calloc(crowd.count, sizeof *crowd.polled);
    for (size_t i = 0; i < crowd.count; i++) {
        begin(&crowd.clients[i], (enum kind)(i % KINDS));
        crowd.polled[i] = (struct pollfd){.fd = crowd.clients[i].fd, .events = POLLRDHUP};
    }
    return crowd;
}

/* In a process of its own: its status is 0 when all are gone in time. They take turns, as strangers do. */
static int dawdle_all(int ready)
{
    struct crowd crowd = gather();
    const size_t share = crowd.count / TICKS + 1;
    int64_t end = measure_now() + (timeout + MARGIN_S) * 1000000;
    if (write(ready, "", 1) != 1)
        return 2;
    for (size_t i = 0; crowd.left > 0 && measure_now() < end; i++) {
        if (i % share == 0)
            look_for_ends(&crowd);
        if (crowd.clients[i % crowd.count].fd >= 0 && !dawdle(&crowd.clients[i % crowd.count]))
            bury(&crowd, i % crowd.count);
    }
    printf("%zu of %zu left; they lasted at most: head %.1f s, body %.1f s, reader %.1f s\n", crowd.left,
           crowd.count, (double)crowd.longest[SLOW_HEAD] / 1e6, (double)crowd.longest[SLOW_BODY] / 1e6,
           (double)crowd.longest[SLOW_READER] / 1e6);
    fflush(stdout);
    return crowd.left == 0 ? 0 : 1;
}

static pid_t start_crowd(void)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(dawdle_all(ready[1]));
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

/* Returns what they have left behind: RSS in kB. */
static long outlast_crowd(struct latency alone, size_t few)
{
    int status;
    size_t many;
    pid_t crowd = start_crowd();
    struct latency with = measure_best_latency(server, "/", &many);
    long rss_with = measure_rss(server);
    ck_assert_int_eq(waitpid(crowd, &status, 0), crowd);
    for (int i = 0; i < 1000 && measure_descriptors(server) > few; i++)
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    printf("p50 %ld -> %ld us, p99 %ld -> %ld us; descriptors %zu -> %zu -> %zu; RSS %ld -> %ld kB\n",
           alone.p50, with.p50, alone.p99, with.p99, few, many, measure_descriptors(server), rss_with,
           measure_rss(server));
    ck_assert_msg(status == 0, "slow clients are left");
    ck_assert_uint_gt(many, few + (size_t)clients_each);
    ck_assert_uint_le(measure_descriptors(server), few);
    ck_assert_int_le(with.p99, 2 * alone.p99);
    return measure_rss(server);
}

/* What the first crowd made the allocator keep serves the second. */
START_TEST(case_52_slow_clients_cost_nobody_anything)
{
    size_t few;
    measure_latency(server, "/", 200);
    struct latency alone = measure_best_latency(server, "/", &few);
    long rss = measure_rss(server);
    long first = outlast_crowd(alone, few);
    ck_assert_int_le(first, rss + FIRST_CROWD_KB);
    ck_assert_int_le(outlast_crowd(alone, few), first + NEXT_CROWD_KB);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    Suite *suite = suite_create("slow");
    TCase *slow = harness_case(suite, "slow", setup, teardown);
    tcase_add_test(slow, case_52_slow_clients_cost_nobody_anything);
    tcase_set_timeout(slow, 300);
    return harness_run(suite);
}
