/* The worker process: loads the app, runs one event loop per core, and tells its supervisor when it is
   ready. */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

#include "config/settings.h"

enum listener_kind {
    LISTENER_PLAIN,
    LISTENER_TLS,
    LISTENER_REDIRECT, /* plain HTTP that answers with the https address */
};

/* A bound and listening socket, made by the supervisor and inherited. */
struct listener_socket {
    int fd;
    unsigned loop; /* index of the loop that accepts from it */
    enum listener_kind kind;
};

struct inheritance {
    int shm_fd;        /* the segment */
    int supervisor_fd; /* stream socket: "ready\n" goes out, or "failed <reason>\n"; "stop\n" comes in, or
                          "logs\n": open them anew, or "retire\n", answered by "left\n" once nothing is
                          accepted any more; EOF: the supervisor is gone, which means stop as well */
    int ssl_port;      /* as bound; for redirects */
    bool reload;       /* another worker serves: a function that can't be loaded is a reason not to begin, and
                          nothing is accepted before "go\n" has come */
    const struct listener_socket *listeners;
    size_t listener_count;
};

/* Returns the exit status of the process. Takes over the descriptors. */
int worker_run(const struct settings *settings, const struct inheritance *inheritance);

#endif
