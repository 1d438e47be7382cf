/*
 * The floor that the server is measured against: one thread, one epoll, one canned answer, one recv and one
 * send for each turn of a connection. It does what any HTTP/1.1 server on this kernel has to do, and nothing
 * else: it finds the empty line that ends each request, and answers each once, several together when they
 * came together.
 *
 *     floor PORT BYTES      answers with a body of that many bytes, on 127.0.0.1
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CONNECTIONS 65536
#define MAX_PIPELINED 16

static char input[65536];
static char *answers; /* MAX_PIPELINED of them in a row */
static size_t answer_len;
static unsigned char matched[MAX_CONNECTIONS]; /* by fd: how much of CRLF CRLF the last bytes were */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void make_answers(size_t body_len)
{
    char head[256];
    size_t head_len = (size_t)snprintf(head, sizeof head,
                                       "HTTP/1.1 200 OK\r\n"
                                       "Server: floor\r\n"
                                       "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                                       "Content-Type: text/html; charset=utf-8\r\n"
                                       "Content-Length: %zu\r\n\r\n",
                                       body_len);
    answer_len = head_len + body_len;
    answers = malloc(answer_len * MAX_PIPELINED);
    if (answers == NULL)
        die("malloc");
    for (char *answer = answers; answer < answers + answer_len * MAX_PIPELINED; answer += answer_len) {
        memcpy(answer, head, head_len);
        memset(answer + head_len, 'x', body_len);
    }
}

static int listen_on(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4096) != 0)
        die("listen");
    return fd;
}

/* The number of requests that end in these bytes; the place inside an unfinished end of head is kept for fd.
 */
static size_t count_requests(int fd, const char *at, size_t len)
{
    size_t count = 0;
    unsigned state = matched[fd];
    for (const char *end = at + len; at < end; at++) {
        if (state == 0) {
            at = memchr(at, '\r', (size_t)(end - at));
            if (at == NULL)
                break;
        }
        if (*at == "\r\n\r\n"[state])
            state++;
        else
            state = *at == '\r';
        if (state == 4) {
            count++;
            state = 0;
        }
    }
    matched[fd] = (unsigned char)state;
    return count;
}

/* False when the connection is over. A benchmark's client reads what it asked for, so a short send is an end
 * too. */
static int serve(int fd)
{
    ssize_t got = recv(fd, input, sizeof input, 0);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    for (size_t count = count_requests(fd, input, (size_t)got); count > 0;) {
        size_t now = count < MAX_PIPELINED ? count : MAX_PIPELINED;
        if (send(fd, answers, now * answer_len, MSG_NOSIGNAL) != (ssize_t)(now * answer_len))
            return 0;
        count -= now;
    }
    return 1;
}

static void accept_all(int epoll, int listener)
{
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (fd >= MAX_CONNECTIONS || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
            close(fd);
            continue;
        }
        matched[fd] = 0;
    }
}

int main(int argc, char **argv)
{
    int port = argc == 3 ? atoi(argv[1]) : 0;
    int bytes = argc == 3 ? atoi(argv[2]) : 0;
    struct epoll_event events[256];
    if (port <= 0 || port > 65535 || bytes <= 0) {
        fprintf(stderr, "usage: %s PORT BYTES\n", argv[0]);
        return 2;
    }
    make_answers((size_t)bytes);

    int listener = listen_on(port), epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) != 0)
        die("epoll");
    printf("Listening on http://127.0.0.1:%d\n", port);
    fflush(stdout);
    for (;;) {
        int count = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                accept_all(epoll, listener);
            else if (!serve(events[i].data.fd))
                close(events[i].data.fd);
        }
    }
}
