/* Thousands of clients on one topic of server-sent events: nobody misses one, the order is kept, and what
   each costs is said. LOAD_LISTENERS: how many; LOAD_EVENTS: how often something is published, five times a
   second. */
#include "measure.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_US 200000
#define PATIENCE_MS 20000
#define KB_EACH 24 /* of the worker's memory, for each client at most */

struct listener {
    int fd;
    size_t heard;
};

static struct server *server;
static struct listener *listeners;
static struct pollfd *polled;
static size_t count, events, heard_all;

static void setup(void)
{
    struct folder *folder = folder_create();
    measure_raise_limits();
    count = (size_t)measure_option("LOAD_LISTENERS", 9000);
    events = (size_t)measure_option("LOAD_EVENTS", 25);
    listeners = calloc(count, sizeof *listeners);
    polled = calloc(count, sizeof *polled);
    folder_add_function(folder, "tests/stories/news.c", "news");
    server = server_start(folder, (const char *const[]){"THREADS=2", "MAX_CONNECTIONS=20000", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static void listen_all(void)
{
    static const char request[] = "GET /api/news HTTP/1.1\r\nHost: x.test\r\n\r\n";
    char head[4096];
    for (size_t i = 0; i < count; i++) {
        listeners[i].fd = measure_connect(server, 4096);
        polled[i] = (struct pollfd){.fd = listeners[i].fd, .events = POLLIN};
        ck_assert_int_eq(send(listeners[i].fd, request, sizeof request - 1, MSG_NOSIGNAL),
                         (int)sizeof request - 1);
        ck_assert_int_gt(recv(listeners[i].fd, head, sizeof head, 0), 0);
    }
}

/* Event n is "event <n>": anything else than the next one fails. */
static void hear(struct listener *listener)
{
    char bytes[4096], wanted[32];
    ssize_t got = recv(listener->fd, bytes, sizeof bytes - 1, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    ck_assert_int_gt(got, 0);
    bytes[got] = '\0';
    for (char *at = bytes; (at = strstr(at, "data: event ")) != NULL; at++) {
        snprintf(wanted, sizeof wanted, "data: event %zu\n", listener->heard);
        ck_assert_msg(strncmp(at, wanted, strlen(wanted)) == 0, "not event %zu: %.20s", listener->heard, at);
        listener->heard++;
        heard_all++;
    }
}

static void hear_until(size_t sum, int64_t end)
{
    while (heard_all < sum && measure_now() < end) {
        poll(polled, count, 100);
        for (size_t i = 0; i < count; i++)
            if (polled[i].revents != 0)
                hear(&listeners[i]);
    }
}

START_TEST(nobody_misses_one)
{
    long before = measure_rss(server);
    listen_all();
    long with = measure_rss(server);
    int64_t start = measure_now();
    for (size_t n = 0; n < events; n++) {
        char *body = text_print("event %zu", n);
        struct request request = {.path = "/api/news", .body = body, .len = strlen(body)};
        answer_expect(client_send(server, &request), 202);
        hear_until((n + 1) * count, start + (int64_t)(n + 1) * PAUSE_US);
    }
    hear_until(events * count, measure_now() + PATIENCE_MS * INT64_C(1000));
    printf("%zu clients, %zu events each, %zu heard; %.1f kB of the worker's memory for each client, %ld kB "
           "after it all\n",
           count, events, heard_all, (double)(with - before) / (double)count, measure_rss(server));
    ck_assert_uint_eq(heard_all, events * count);
    ck_assert_int_le(with - before, KB_EACH * (long)count);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    Suite *suite = suite_create("feed");
    TCase *tests = harness_case(suite, "feed", setup, teardown);
    tcase_add_test(tests, nobody_misses_one);
    tcase_set_timeout(tests, 300);
    return harness_run(suite);
}
