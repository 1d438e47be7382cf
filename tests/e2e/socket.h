/* The client's side of a WebSocket, by hand: any frame in, each frame of the server out, over HTTP/1.1, TLS
   or HTTP/2. What the server may not send (a masked frame, an unknown opcode, a length longer than need be)
   fails the test, and so does silence. */
#ifndef E2E_SOCKET_H
#define E2E_SOCKET_H

#include "client.h"
#include "server.h"
#include "site.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SOCKET_MORE = 0x0,
    SOCKET_TEXT = 0x1,
    SOCKET_BINARY = 0x2,
    SOCKET_CLOSE = 0x8,
    SOCKET_PING = 0x9,
    SOCKET_PONG = 0xa
};
#define SOCKET_FIN 0x80
#define SOCKET_PACKED 0x40

struct socket;

/* What a handshake must bring beside its path; for HTTP/1. */
#define SOCKET_KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define SOCKET_FIELDS                                                                                        \
    "Host: x.test\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
    "Sec-WebSocket-Key: " SOCKET_KEY "\r\n"

/* The handshake with further field lines ("name: value\r\n", in lower case, as HTTP/2 wants them; may be ""),
   which must succeed; *ret_answer (may be NULL) is what the server said. */
struct socket *socket_open(const struct server *server, enum transport transport, const char *path,
                           const char *fields, struct answer **ret_answer);
/* The same, when it is expected to be refused. */
struct answer *socket_refused(const struct server *server, enum transport transport, const char *path,
                              const char *fields);

/* Those of a site. */
struct socket *site_socket(const struct site *site, enum transport transport, const char *path,
                           const char *fields, struct answer **ret_answer);
struct answer *site_socket_refused(const struct site *site, enum transport transport, const char *path,
                                   const char *fields);

/* first: the first byte, opcode and flags; the payload is masked. */
void socket_send(struct socket *socket, unsigned first, const void *data, size_t len);
void socket_text(struct socket *socket, const char *text);
void socket_raw(struct socket *socket, const void *bytes, size_t len);
void socket_close_with(struct socket *socket, int code, const char *reason);

struct socket_frame {
    unsigned first; /* opcode and flags */
    size_t len;
    char *data; /* with a NUL behind it */
};

/* False: the connection has ended. */
bool socket_next(struct socket *socket, struct socket_frame *ret_frame);
/* The next frame is this text; is a close frame with that code (0: without one); is the last thing before the
   end. */
void socket_expect_text(struct socket *socket, const char *text);
void socket_expect_close(struct socket *socket, int code);
void socket_expect_end(struct socket *socket);

/* What tests/e2e/functions/socket.c was told of the end of its socket ?name=; which may take a while. */
void socket_expect_told(const struct site *site, enum transport transport, const char *name,
                        const char *told);

/* TCP or the stream is dropped without another word; frees. */
void socket_drop(struct socket *socket);
/* A closing handshake that works; frees. */
void socket_finish(struct socket *socket);

#endif
