/* A generation: one worker process, as its supervisor sees it. */
#ifndef PROCESS_GENERATION_H
#define PROCESS_GENERATION_H

#include "process/sockets.h"

#include <sys/types.h>

#define GENERATION_TEXT_SIZE 2048 /* of a message; what is longer is cut */

struct generation {
    pid_t pid;           /* 0: there is no process */
    int fd;              /* to the worker; -1 when it has closed its end */
    bool ready, failed;  /* as it has said */
    bool left;           /* it accepts no more */
    int64_t ready_since; /* on the monotonic clock */
    size_t len;
    char line[GENERATION_TEXT_SIZE]; /* what it is saying */
    char text[GENERATION_TEXT_SIZE]; /* of the last news; empty when there is none */
};

enum generation_news {
    GENERATION_QUIET,
    GENERATION_READY,   /* "ready" or "ready <what it serves>" */
    GENERATION_FAILED,  /* "failed <reason>"; it is about to exit */
    GENERATION_LEFT,    /* "left": it retires, and accepts no more */
    GENERATION_FAULTED, /* "faulted <module>": the same, because a function has crashed */
};

/* Starts this very binary as a worker: argv as main had it, and the descriptors. reload: another one serves,
   and goes on if this one can't. 0 or a negative errno. */
int generation_start(struct generation *generation, char *const argv[], const struct sockets *sockets,
                     int shm_fd, bool reload);

/* What the worker has said since, never blocking; generation->text holds what follows the first word. */
enum generation_news generation_listen(struct generation *generation);

int generation_stop(struct generation *generation);   /* asks; 0 or a negative errno */
int generation_retire(struct generation *generation); /* the same: another one is about to take over */
int generation_reopen_logs(struct generation *generation);
int generation_go(struct generation *generation); /* the same: it may accept, after a reload */
void generation_kill(struct generation *generation);

/* After the process was reaped. */
void generation_finish(struct generation *generation);

#endif
