/*
 * Messages of 64 bytes over WebSockets on 127.0.0.1. echo: each client says the next one when it has heard
 * the one before. fan: one says it, and says the next when all have heard it. idle: as idle.c does.
 *
 *     websockets echo|fan PORT PATH CLIENTS SECONDS      prints how many were heard
 *     websockets idle PORT PATH CLIENTS                  prints "ready" when all are there
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAYLOAD 64
#define HEARD (2 + PAYLOAD) /* bytes of a message from the server */
#define SAID (6 + PAYLOAD)

struct client {
    int fd;
    size_t len; /* of a message that has begun to come */
};

static struct client *clients;
static size_t count, heard;
static int epoll;

/* A text of blanks under a mask of zeros. */
static void say(const struct client *client)
{
    char frame[SAID] = {(char)0x81, (char)(0x80 | PAYLOAD)};
    memset(frame + 6, ' ', PAYLOAD);
    if (write(client->fd, frame, sizeof frame) != SAID)
        bench_die("write");
}

static void shake_hands(int fd, int port, const char *path)
{
    char text[2048];
    int len =
        snprintf(text, sizeof text,
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                 path, port);
    if (write(fd, text, (size_t)len) != len)
        bench_die("write");
    size_t got = 0;
    do {
        ssize_t more = read(fd, text + got, sizeof text - 1 - got);
        if (more <= 0)
            bench_die("read");
        got += (size_t)more;
        text[got] = '\0';
    } while (strstr(text, "\r\n\r\n") == NULL);
    if (strncmp(text, "HTTP/1.1 101 ", 13) != 0)
        bench_die("the handshake was refused");
}

static void enter(struct client *client, int port, const char *path)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    client->fd = bench_connect(port);
    shake_hands(client->fd, port, path);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
        bench_die("epoll_ctl");
}

/* Whole messages that have come. */
static size_t take(struct client *client)
{
    char data[HEARD * 64];
    ssize_t got = read(client->fd, data, sizeof data);
    if (got <= 0)
        bench_die("read");
    client->len += (size_t)got;
    size_t messages = client->len / HEARD;
    client->len %= HEARD;
    return messages;
}

static void run(bool fan, int64_t end)
{
    struct epoll_event events[256];
    for (size_t i = 0; i < (fan ? 1 : count); i++)
        say(&clients[i]);
    while (bench_now() < end) {
        int ready = epoll_wait(epoll, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            size_t messages = take(events[i].data.ptr);
            const size_t before = heard;
            heard += messages;
            if (!fan)
                for (size_t k = 0; k < messages; k++)
                    say(events[i].data.ptr);
            else if (heard / count > before / count)
                say(&clients[0]);
        }
    }
}

static void raise_limits(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    const bool idle = argc == 5 && strcmp(argv[1], "idle") == 0;
    if (!idle && (argc != 6 || (strcmp(argv[1], "echo") != 0 && strcmp(argv[1], "fan") != 0))) {
        fprintf(stderr, "usage: %s echo|fan PORT PATH CLIENTS SECONDS | idle PORT PATH CLIENTS\n", argv[0]);
        return 2;
    }
    raise_limits();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    count = strtoul(argv[4], NULL, 10);
    clients = bench_alloc(count * sizeof *clients);
    for (size_t i = 0; i < count; i++)
        enter(&clients[i], atoi(argv[2]), argv[3]);
    if (idle) {
        printf("ready\n");
        fflush(stdout);
        while (getchar() != EOF)
            ;
        return 0;
    }
    run(strcmp(argv[1], "fan") == 0, bench_now() + (int64_t)(atof(argv[5]) * 1e6));
    printf("%zu\n", heard);
    return 0;
}
