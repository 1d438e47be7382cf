/*
 * How long a server takes from its start to its first answer, asked as soon as it lets itself be asked.
 *
 *     first PORT PATH COMMAND...      prints milliseconds, and ends the command
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_US 10000000
#define PAUSE_US 200

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s PORT PATH COMMAND...\n", argv[0]);
        return 2;
    }
    const int port = atoi(argv[1]);
    char request[BENCH_REQUEST_SIZE];
    bench_request(request, port, argv[2]);
    const int64_t start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execvp(argv[3], argv + 3);
        bench_die(argv[3]);
    }
    int fd;
    while ((fd = bench_try_connect(port)) < 0) {
        errno = ETIMEDOUT;
        if (bench_now() - start > PATIENCE_US || waitpid(child, NULL, WNOHANG) != 0)
            bench_die("it does not listen");
        usleep(PAUSE_US);
    }
    bench_exchange(fd, request);
    printf("%.1f\n", (double)(bench_now() - start) / 1000);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    return 0;
}
