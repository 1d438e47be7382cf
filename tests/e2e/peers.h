/* Servers that are asked the same: ours, and two strict ones of Debian's. */
#ifndef E2E_PEERS_H
#define E2E_PEERS_H

#include "mutations.h"

#include <sys/types.h>

struct peer {
    const char *name;
    int port; /* on loopback; 0: it listens on the socket at `path` */
    char *path;
    pid_t pid;
};

/* NULL when it is not installed. They answer /probe, /canary and /smuggled with "NAME ran" and everything
   else with some 200, and read bodies before they answer. */
struct peer *peer_start_nginx(void);
struct peer *peer_start_haproxy(void);
void peer_stop(struct peer *peer);

#define OUTCOME_MAX 8

struct outcome {
    enum verdict verdict;
    int statuses[OUTCOME_MAX]; /* 100 left out; 9: an answer without a head, as of HTTP/0.9 */
    size_t count;
    long body; /* bytes that /probe says it has seen; -1: it does not say */
};

/* Sends the bytes on a connection of their own, in two pieces when `split` is within them, and reads to the
   end. FIN is sent as soon as the server has the bytes, or for a peer (one drops what is pipelined when it
   sees FIN) after some ms of silence. A server that goes on being silent fails the test. */
struct outcome peer_ask(const struct peer *peer, const struct mutation *mutation, size_t split);

/* The same with a long silence before the FIN. */
struct outcome peer_ask_patiently(const struct peer *peer, const struct mutation *mutation);

#endif
