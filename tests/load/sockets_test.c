/* 2,000 WebSockets that subscribe, leave, talk and drop at random, while one publishes: whoever stays misses
   nothing and hears everything once, in order; and in the end all are gone. SOCKETS_SECONDS says for how
   long, 10 by default. */
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 2000
#define PUBLISH_US 2000 /* between two publications */

enum state { CLOSED, SHAKING, TALKING, LISTENING };

struct client {
    int fd;
    enum state state;
    long last; /* publication that it has heard; 0: none yet */
    size_t len;
    char in[4096];
};

static struct server *server;
static struct client clients[CLIENTS + 1]; /* the last one publishes */
static int epoll;
static long published, heard, dropped, joined;

static void setup(void)
{
    struct folder *folder = folder_create();
    measure_raise_limits();
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    server = server_start(folder, (const char *const[]){"THREADS=2", NULL});
    epoll = epoll_create1(EPOLL_CLOEXEC);
}

static void teardown(void)
{
    server_stop(server);
}

static uint32_t random_below(uint32_t limit)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % limit);
}

/* ---- one client ---- */

static void leave(struct client *client, bool reset)
{
    const struct linger none = {.l_onoff = 1};
    if (reset)
        setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(client->fd);
    client->state = CLOSED;
}

static void enter(struct client *client)
{
    static const char request[] = "GET /api/socket HTTP/1.1\r\nHost: x.test\r\nUpgrade: websocket\r\n"
                                  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    client->fd = measure_connect(server, 0);
    if (write(client->fd, request, sizeof request - 1) != (ssize_t)sizeof request - 1)
        ck_abort_msg("write: %s", strerror(errno));
    (void)fcntl(client->fd, F_SETFL, O_NONBLOCK);
    client->state = SHAKING;
    client->len = 0;
    client->last = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
        ck_abort_msg("epoll_ctl: %s", strerror(errno));
}

/* With a mask of zeros. A client whose queue is full says nothing this time. */
static void say(struct client *client, const char *text)
{
    char frame[256];
    size_t len = strlen(text);
    frame[0] = (char)0x81;
    frame[1] = (char)(0x80 | len);
    memset(frame + 2, 0, 4);
    memcpy(frame + 6, text, len);
    if (send(client->fd, frame, 6 + len, MSG_NOSIGNAL) != (ssize_t)(6 + len) && errno != EAGAIN)
        leave(client, true);
}

static void hear(struct client *client, const char *text)
{
    if (strcmp(text, "subscribed") == 0) {
        client->state = LISTENING;
        client->last = 0;
    } else if (text[0] == 'n' && client->state == LISTENING) {
        long number = strtol(text + 1, NULL, 10);
        if (client->last != 0 && number != client->last + 1)
            ck_abort_msg("heard %ld after %ld", number, client->last);
        client->last = number;
        heard++;
    }
}

/* The bytes of whole frames that were taken off the front. */
static size_t take_frames(struct client *client)
{
    size_t used = 0;
    char text[128];
    while (client->len - used >= 2) {
        const unsigned char *at = (unsigned char *)client->in + used;
        const size_t len = at[1];
        if (len > 125)
            ck_abort_msg("a frame with the length byte %zu", len);
        if (client->len - used < 2 + len)
            break;
        memcpy(text, at + 2, len);
        text[len] = '\0';
        if (at[0] == 0x81)
            hear(client, text);
        used += 2 + len;
    }
    return used;
}

static void read_client(struct client *client)
{
    ssize_t got = read(client->fd, client->in + client->len, sizeof client->in - 1 - client->len);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        ck_abort_msg("the server closed a client in state %d", (int)client->state);
    client->len += (size_t)got;
    size_t used = 0;
    if (client->state == SHAKING) {
        client->in[client->len] = '\0';
        const char *end = strstr(client->in, "\r\n\r\n");
        if (end == NULL)
            return;
        if (strncmp(client->in, "HTTP/1.1 101 ", 13) != 0)
            ck_abort_msg("%s", client->in);
        used = (size_t)(end + 4 - client->in);
        client->state = TALKING;
        joined++;
    }
    client->len -= used;
    memmove(client->in, client->in + used, client->len);
    used = take_frames(client);
    client->len -= used;
    memmove(client->in, client->in + used, client->len);
}

/* ---- all of them ---- */

static void act(void)
{
    struct client *client = &clients[random_below(CLIENTS)];
    const uint32_t choice = random_below(10);
    if (client->state == CLOSED) {
        enter(client);
    } else if (client->state == SHAKING || choice == 0) {
        dropped++;
        leave(client, random_below(2) == 0);
    } else if (client->state == LISTENING && choice < 3) {
        client->state = TALKING;
        say(client, "/leave news");
    } else if (choice < 6) {
        if (client->state == TALKING)
            say(client, "/topic news");
    } else {
        say(client, "just talking");
    }
}

static void publish(void)
{
    char text[64];
    snprintf(text, sizeof text, "/tell news n%ld", ++published);
    say(&clients[CLIENTS], text);
}

static void read_all(int wait)
{
    struct epoll_event events[256];
    int count = epoll_wait(epoll, events, 256, wait);
    for (int i = 0; i < count; i++) {
        struct client *client = events[i].data.ptr;
        if (client->state != CLOSED)
            read_client(client);
    }
}

static void live(int64_t until)
{
    int64_t next = measure_now();
    while (measure_now() < until) {
        if (measure_now() >= next) {
            publish();
            next += PUBLISH_US;
        }
        for (int i = 0; i < 4; i++)
            act();
        read_all(1);
    }
}

static void expect_all_gone(void)
{
    long opened = 1, closed = 0, drained;
    for (int i = 0; i < 500 && opened != closed; i++) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        struct answer *answer = client_get(server, HTTP1, "/api/socket");
        ck_assert_int_eq(sscanf(answer->body, "%ld %ld %ld", &opened, &closed, &drained), 3);
    }
    ck_assert_int_eq(opened, closed);
    ck_assert_int_ge(opened, joined);
}

START_TEST(clients_come_and_go_and_those_who_stay_miss_nothing)
{
    for (int i = 0; i <= CLIENTS; i++) {
        enter(&clients[i]);
        read_all(0);
    }
    while (clients[CLIENTS].state != TALKING)
        read_all(10);
    const long before = measure_rss(server);
    live(measure_now() + measure_option("SOCKETS_SECONDS", 10) * 1000000);
    const long after = measure_rss(server);
    for (int i = 0; i <= CLIENTS; i++)
        if (clients[i].state != CLOSED)
            leave(&clients[i], i % 2 == 0);
    expect_all_gone();
    printf("%ld published, %ld heard, %ld came, %ld dropped; RSS %ld -> %ld kB\n", published, heard, joined,
           dropped, before, after);
    ck_assert_int_gt(heard, published);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sockets");
    TCase *tests = harness_case(suite, "sockets", setup, teardown);
    tcase_set_timeout(tests, 900);
    tcase_add_test(tests, clients_come_and_go_and_those_who_stay_miss_nothing);
    return harness_run(suite);
}
