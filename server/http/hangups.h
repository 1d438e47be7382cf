/* Notices clients that leave while nobody reads from them. The loop's own epoll does not watch a socket that
   is not read (its client has half-closed, or sends faster than it is answered), so such sockets stand in a
   second, small one. */
#ifndef HTTP_HANGUPS_H
#define HTTP_HANGUPS_H

#include <h2o.h>

struct transport;

struct hangups {
    int fd; /* of the epoll */
    h2o_socket_t *socket;
    void (*lost)(struct transport *transport); /* told once for a connection that is reset */
};

int hangups_init(struct hangups *hangups, h2o_loop_t *loop, void (*lost)(struct transport *transport));
void hangups_finish(struct hangups *hangups);

void hangups_watch(struct hangups *hangups, int fd, struct transport *transport);
void hangups_ignore(struct hangups *hangups, int fd);

#endif
