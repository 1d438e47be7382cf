#include "process/generation.h"

#include "base/clock.h"
#include "process/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The binary that runs now, even when its file has been replaced since. */
#define EXECUTABLE "/proc/self/exe"

static int share(int fd)
{
    return fcntl(fd, F_SETFD, 0) == 0 ? 0 : -errno;
}

static int share_descriptors(const struct inheritance *inheritance)
{
    int error = share(inheritance->shm_fd);
    if (error == 0)
        error = share(inheritance->supervisor_fd);
    for (size_t i = 0; error == 0 && i < inheritance->listener_count; i++)
        error = share(inheritance->listeners[i].fd);
    return error;
}

/* In the child. Signals stay blocked until the worker has decided what they do, so none is taken by
   default. */
static _Noreturn void become_worker(char *const argv[], const struct inheritance *inheritance)
{
    char *text = handover_text(inheritance);
    int error = share_descriptors(inheritance);
    if (error == 0 && setenv(HANDOVER_VARIABLE, text, 1) < 0)
        error = -errno;
    if (error == 0) {
        execv(EXECUTABLE, argv);
        error = -errno;
    }
    dprintf(inheritance->supervisor_fd, "failed cannot start " EXECUTABLE ": %s\n", strerror(-error));
    _exit(1);
}

int generation_start(struct generation *generation, char *const argv[], const struct sockets *sockets,
                     int shm_fd, bool reload)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    const struct inheritance inheritance = {
        .shm_fd = shm_fd,
        .supervisor_fd = pair[1],
        .ssl_port = sockets_port(sockets, LISTENER_TLS),
        .reload = reload,
        .listeners = sockets->items,
        .listener_count = sockets->count,
    };
    pid_t pid = fork();
    if (pid == 0)
        become_worker(argv, &inheritance);
    int error = pid < 0 ? -errno : 0;
    close(pair[1]);
    if (error < 0) {
        close(pair[0]);
        return error;
    }
    *generation = (struct generation){.pid = pid, .fd = pair[0]};
    return 0;
}

/* The rest of text behind the word it starts with, or NULL when that is another. */
static const char *after_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(text, word, len) != 0 || (text[len] != ' ' && text[len] != '\0'))
        return NULL;
    return text + len + strspn(text + len, " ");
}

/* A worker that is ready has nothing more to say but that it accepts no more; one that failed, nothing. */
static enum generation_news understand(struct generation *generation)
{
    const char *rest;
    generation->line[generation->len] = '\0';
    generation->len = 0;
    if (generation->ready && strcmp(generation->line, "left") == 0) {
        generation->left = true;
        return GENERATION_LEFT;
    }
    if (generation->ready && (rest = after_word(generation->line, "faulted")) != NULL) {
        memcpy(generation->text, rest, strlen(rest) + 1);
        return GENERATION_FAULTED;
    }
    if (generation->ready || generation->failed)
        return GENERATION_QUIET;
    if ((rest = after_word(generation->line, "ready")) != NULL) {
        generation->ready = true;
        generation->ready_since = monotonic_ms();
    } else if ((rest = after_word(generation->line, "failed")) != NULL) {
        generation->failed = true;
    } else {
        return GENERATION_QUIET;
    }
    memcpy(generation->text, rest, strlen(rest) + 1);
    return generation->ready ? GENERATION_READY : GENERATION_FAILED;
}

/* Byte by byte, so that nothing is read beyond the message; there are three in the life of a worker. */
enum generation_news generation_listen(struct generation *generation)
{
    while (generation->fd >= 0) {
        char c;
        ssize_t got = recv(generation->fd, &c, 1, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return GENERATION_QUIET;
        if (got <= 0) {
            close(generation->fd);
            generation->fd = -1;
        } else if (c != '\n') {
            if (generation->len + 1 < sizeof generation->line)
                generation->line[generation->len++] = c;
        } else {
            enum generation_news news = understand(generation);
            if (news != GENERATION_QUIET)
                return news;
        }
    }
    return GENERATION_QUIET;
}

static int tell(const struct generation *generation, const char *message)
{
    if (generation->fd < 0)
        return -EPIPE;
    return send(generation->fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int generation_stop(struct generation *generation)
{
    return tell(generation, "stop\n");
}

int generation_retire(struct generation *generation)
{
    return tell(generation, "retire\n");
}

int generation_reopen_logs(struct generation *generation)
{
    return tell(generation, "logs\n");
}

int generation_go(struct generation *generation)
{
    return tell(generation, "go\n");
}

void generation_kill(struct generation *generation)
{
    if (generation->pid > 0)
        kill(generation->pid, SIGKILL);
}

void generation_finish(struct generation *generation)
{
    if (generation->pid > 0 && generation->fd >= 0)
        close(generation->fd);
    *generation = (struct generation){.fd = -1};
}
