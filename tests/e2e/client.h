/* A real client (libcurl). */
#ifndef E2E_CLIENT_H
#define E2E_CLIENT_H

#include "answer.h"
#include "server.h"

enum transport {
    HTTP1, /* HTTP/1.1 */
    TLS1,  /* HTTP/1.1 over TLS */
    HTTP2, /* HTTP/2 over TLS */
};

struct request {
    enum transport transport;
    const char *method;        /* NULL: GET, or POST when there is a body */
    const char *path;          /* request target, sent as it is */
    const char *const *fields; /* "name: value", the last one NULL */
    const void *body;          /* NULL: none */
    size_t len;
    bool expect; /* ask for 100 (Continue) first */
};

/* Fails the test when there is no complete answer. The server's certificate must be that of its folder, where
   it has one. */
struct answer *client_send(const struct server *server, const struct request *request);
struct answer *client_get(const struct server *server, enum transport transport, const char *path);
struct answer *client_post(const struct server *server, enum transport transport, const char *path,
                           const char *type, const void *body, size_t len);

/* All of them at once: on one connection with HTTP2, else on as many as there are requests. */
void client_send_all(const struct server *server, const struct request requests[],
                     struct answer *ret_answers[], size_t count);

const char *transport_name(enum transport transport);

#endif
