/* The binary under test, running: CLOUDGATE names it (default build/cc/cloudgate). */
#ifndef E2E_SERVER_H
#define E2E_SERVER_H

#include "folder.h"

#include <stdbool.h>
#include <sys/types.h>

struct server {
    const struct folder *folder;
    pid_t pid, worker;
    int port, tls_port;    /* 0: none */
    char *output, *errors; /* files with its stdout and stderr */
};

/* Starts it on the folder, on loopback and free ports, and waits until it listens. environment: "NAME=value"
   strings, the last one NULL. With SSL=1 among them there is a plain port only when PORT is given too. */
struct server *server_start(const struct folder *folder, const char *const environment[]);

/* After reloads: once there is a single worker, it is the one that is expected from now on. */
void server_renew(struct server *server);
/* TERM, then: status 0, the same worker as at the start, no report of a sanitizer. Failing that, the program
 * fails. */
void server_stop(struct server *server);

/* Runs it to its end instead, with arguments: its exit status, and what it wrote to both outputs. */
int server_run(const struct folder *folder, const char *const environment[], const char *const arguments[],
               char **ret_output);

/* What it wrote so far. */
char *server_errors(const struct server *server);
char *server_output(const struct server *server);
/* Waits until a line of its log holds all the words (the last one NULL); fails the test when none comes. */
void server_expect_log(const struct server *server, const char *const words[]);

#endif
