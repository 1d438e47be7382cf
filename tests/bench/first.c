/*
 * How long a server takes from its start to its first answer, asked as soon as it lets itself be asked.
 *
 *     first PORT PATH COMMAND...      prints milliseconds, and ends the command
 */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_US 10000000
#define PAUSE_US 200

/* -1: nobody listens yet. */
static int try_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void exchange(int fd, int port, const char *path)
{
    char request[4096], input[65536];
    struct bench_answer answer = {0};
    ssize_t got;
    int len = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path, port);
    if (send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
        bench_die("send");
    do {
        got = recv(fd, input, sizeof input, 0);
        if (got <= 0)
            bench_die("recv");
    } while (!bench_answer_take(&answer, input, (size_t)got));
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s PORT PATH COMMAND...\n", argv[0]);
        return 2;
    }
    const int port = atoi(argv[1]);
    const int64_t start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execvp(argv[3], argv + 3);
        bench_die(argv[3]);
    }
    int fd;
    while ((fd = try_connect(port)) < 0) {
        errno = ETIMEDOUT;
        if (bench_now() - start > PATIENCE_US || waitpid(child, NULL, WNOHANG) != 0)
            bench_die("it does not listen");
        usleep(PAUSE_US);
    }
    exchange(fd, port, argv[2]);
    printf("%.1f\n", (double)(bench_now() - start) / 1000);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    return 0;
}
