/* A stand-in for a worker, which a test of the supervisor plays when it is executed as one. */
#ifndef TESTS_UNIT_STAND_IN_H
#define TESTS_UNIT_STAND_IN_H

#include "process/handover.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void tell(const struct inheritance *inheritance, const char *text)
{
    if (write(inheritance->supervisor_fd, text, strlen(text)) < 0)
        _exit(9);
}

/* Answers each connection with its pid, until it is told to stop or the supervisor is gone. */
static inline int serve(const struct inheritance *inheritance, bool stubborn)
{
    struct pollfd fds[9] = {{.fd = inheritance->supervisor_fd, .events = POLLIN}};
    size_t count = inheritance->listener_count < 8 ? inheritance->listener_count : 8;
    for (size_t i = 0; i < count; i++)
        fds[i + 1] = (struct pollfd){.fd = inheritance->listeners[i].fd, .events = POLLIN};
    for (;;) {
        if (poll(fds, count + 1, -1) < 0)
            continue;
        if (fds[0].revents != 0) {
            char text[16] = "";
            ssize_t got = read(fds[0].fd, text, sizeof text - 1);
            if (got <= 0)
                return 0;
            if (strcmp(text, "go\n") == 0 || strcmp(text, "logs\n") == 0)
                continue;
            if (strcmp(text, "stop\n") != 0 && strcmp(text, "retire\n") != 0)
                return 8;
            if (text[0] == 'r')
                tell(inheritance, "left\n");
            if (!stubborn)
                return 0;
        }
        for (size_t i = 1; i <= count; i++) {
            int client = fds[i].revents != 0 ? accept(fds[i].fd, NULL, NULL) : -1;
            if (client >= 0) {
                dprintf(client, "%d\n", (int)getpid());
                close(client);
            }
        }
    }
}

/* An orphan for PID 1 to reap. */
static inline void leave_orphan(void)
{
    pid_t child = fork();
    if (child == 0) {
        fork();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* argv[1] is what to do, argv[2] a file that grows by a byte with each start. */
static inline int play_worker(char *argv[], const struct inheritance *inheritance)
{
    const char *role = argv[1];
    int fd = open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1)
        return 7;
    off_t starts = lseek(fd, 0, SEEK_END);
    if (strcmp(role, "fails") == 0 || (strcmp(role, "fails later") == 0 && starts > 1)) {
        tell(inheritance, "failed no \x1b[1mluck\n");
        return 1;
    }
    if (strcmp(role, "dies") == 0 || (strcmp(role, "flaky") == 0 && (starts == 2 || starts == 3)))
        return 3;
    if (strcmp(role, "hangs") == 0)
        for (;;)
            pause();
    if (strcmp(role, "orphans") == 0)
        leave_orphan();
    tell(inheritance, "ready 1 file, 2 functions\n");
    return serve(inheritance, strcmp(role, "stubborn") == 0);
}

#endif
