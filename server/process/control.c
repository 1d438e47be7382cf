#include "process/control.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define NAME "control"
#define BACKLOG 16

/* A socket's path may have 107 bytes, that of a folder many more; so it is reached by way of a descriptor. */
static int open_folder(const char *state_dir, struct sockaddr_un *ret_address)
{
    int folder = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "/proc/self/fd/%d/" NAME, folder);
    return folder;
}

/* A socket of that folder on which `begin` has succeeded, or a negative errno. */
static int open_socket(const char *state_dir, int flags,
                       int (*begin)(int fd, const struct sockaddr_un *address))
{
    struct sockaddr_un address;
    int folder = open_folder(state_dir, &address);
    if (folder < 0)
        return folder;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    int error = fd < 0 || begin(fd, &address) != 0 ? -errno : 0;
    close(folder);
    if (error == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return error;
}

static int begin_client(int fd, const struct sockaddr_un *address)
{
    return connect(fd, (const struct sockaddr *)address, sizeof *address);
}

static int begin_server(int fd, const struct sockaddr_un *address)
{
    unlink(address->sun_path); /* of a server that was killed: nobody answered there */
    const mode_t mask = umask(0177);
    int error = bind(fd, (const struct sockaddr *)address, sizeof *address);
    umask(mask);
    return error != 0 ? error : listen(fd, BACKLOG);
}

static int connect_to(const char *state_dir)
{
    return open_socket(state_dir, 0, begin_client);
}

int control_open(struct control *control, const char *state_dir)
{
    *control = (struct control){.fd = -1};
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        control->clients[i].fd = -1;
    if (mkdir(state_dir, 0700) != 0 && errno != EEXIST)
        return -errno;
    int other = connect_to(state_dir);
    if (other >= 0) {
        close(other);
        return -EADDRINUSE;
    }
    control->fd = open_socket(state_dir, SOCK_NONBLOCK, begin_server);
    if (control->fd < 0)
        return control->fd;
    control->path = xsprintf("%s/" NAME, state_dir);
    return 0;
}

static void drop(struct control_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    *client = (struct control_client){.fd = -1};
}

void control_close(struct control *control)
{
    if (control->path != NULL)
        unlink(control->path);
    if (control->fd >= 0)
        close(control->fd);
    for (size_t i = 0; i < CONTROL_CLIENTS && control->path != NULL; i++)
        drop(&control->clients[i]);
    free(control->path);
    *control = (struct control){.fd = -1};
}

void control_polls(const struct control *control, struct pollfd polls[CONTROL_POLLS])
{
    polls[0] = (struct pollfd){.fd = control->path ? control->fd : -1, .events = POLLIN};
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        polls[1 + i] = (struct pollfd){.fd = control->path ? control->clients[i].fd : -1, .events = POLLIN};
}

/* One more than there is room for is not kept waiting. */
static void take_client(struct control *control)
{
    int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    for (size_t i = 0; fd >= 0 && i < CONTROL_CLIENTS; i++)
        if (control->clients[i].fd < 0) {
            control->clients[i] = (struct control_client){.fd = fd};
            return;
        }
    if (fd >= 0)
        close(fd);
}

/* True: its word is whole. */
static bool take_word(struct control_client *client)
{
    ssize_t got = recv(client->fd, client->word + client->len, sizeof client->word - 1 - client->len, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0 || client->waits) { /* it has left, or has more to say than it may */
        drop(client);
        return false;
    }
    client->len += (size_t)got;
    client->word[client->len] = '\0';
    char *end = strchr(client->word, '\n');
    if (end == NULL && client->len == sizeof client->word - 1)
        drop(client);
    if (end == NULL)
        return false;
    *end = '\0';
    client->waits = true;
    return true;
}

void control_take(struct control *control, const struct pollfd polls[CONTROL_POLLS],
                  void (*said)(void *arg, struct control_client *client), void *arg)
{
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (polls[1 + i].revents != 0 && control->clients[i].fd == polls[1 + i].fd &&
            take_word(&control->clients[i]))
            said(arg, &control->clients[i]);
    if (polls[0].revents != 0 && control->path != NULL)
        take_client(control);
}

/* A client that does not read is not waited for: what it gets is short. */
void control_answer(struct control_client *client, const char *text, bool end)
{
    if (send(client->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 || end)
        drop(client);
}

void control_answer_all(struct control *control, const char *word, const char *text)
{
    for (size_t i = 0; i < CONTROL_CLIENTS && control->path != NULL; i++) {
        struct control_client *client = &control->clients[i];
        if (client->fd >= 0 && client->waits && strcmp(client->word, word) == 0)
            control_answer(client, text, true);
    }
}

int control_ask(const char *state_dir, const char *word)
{
    char line[CONTROL_WORD_SIZE], text[4096];
    int fd = connect_to(state_dir), result = -EPROTO;
    bool first = true;
    if (fd < 0)
        return fd;
    int len = snprintf(line, sizeof line, "%s\n", word);
    ssize_t got = send(fd, line, (size_t)len, MSG_NOSIGNAL);
    while (got > 0 && (got = recv(fd, text, sizeof text, 0)) > 0) {
        if (first && got >= 2 && memcmp(text, "ok", 2) == 0)
            result = 0;
        first = false;
        fwrite(text, 1, (size_t)got, result == 0 ? stdout : stderr);
    }
    close(fd);
    return result;
}
