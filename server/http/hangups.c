#include "http/hangups.h"

#include <errno.h>
#include <sys/epoll.h>

#define BATCH 64

/* A FIN (EPOLLRDHUP alone) is a half-close: the client may still read its answer. */
static void on_event(h2o_socket_t *socket, const char *error)
{
    struct hangups *hangups = socket->data;
    struct epoll_event events[BATCH];
    (void)error;
    int count = epoll_wait(hangups->fd, events, BATCH, 0);
    for (int i = 0; i < count; i++)
        if (events[i].events & (EPOLLHUP | EPOLLERR))
            hangups->lost(events[i].data.ptr);
}

int hangups_init(struct hangups *hangups, h2o_loop_t *loop, void (*lost)(struct transport *transport))
{
    hangups->fd = epoll_create1(EPOLL_CLOEXEC);
    if (hangups->fd < 0)
        return -errno;
    hangups->lost = lost;
    hangups->socket = h2o_evloop_socket_create(loop, hangups->fd, H2O_SOCKET_FLAG_DONT_READ);
    hangups->socket->data = hangups;
    h2o_socket_read_start(hangups->socket, on_event);
    return 0;
}

void hangups_finish(struct hangups *hangups)
{
    if (hangups->socket != NULL)
        h2o_socket_close(hangups->socket); /* and with it the descriptor */
    hangups->socket = NULL;
}

/* Edge-triggered, or the FIN that is there already would be told again and again. Failing is harmless: the
   client's departure is then noticed when it is written to. */
void hangups_watch(struct hangups *hangups, int fd, struct transport *transport)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = transport};
    (void)epoll_ctl(hangups->fd, EPOLL_CTL_ADD, fd, &event);
}

void hangups_ignore(struct hangups *hangups, int fd)
{
    (void)epoll_ctl(hangups->fd, EPOLL_CTL_DEL, fd, NULL);
}
