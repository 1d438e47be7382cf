/* The generations that live side by side: the one that serves, one that starts, and those that retire. */
#ifndef PROCESS_CREW_H
#define PROCESS_CREW_H

#include "base/buffer.h"
#include "process/generation.h"

#include <stdint.h>

#define CREW_MAX 5 /* one that serves, one that starts, three that retire */
#define CREW_NEVER INT64_MAX

enum role {
    ROLE_NONE,
    ROLE_STARTING,
    ROLE_SERVING,
    ROLE_RETIRING, /* another one has taken over */
};

struct member {
    struct generation process;
    enum role role;
    bool held;        /* it does not accept before it is told to */
    int64_t deadline; /* then it is ended; monotonic ms */
};

struct crew {
    struct member members[CREW_MAX];
};

void crew_init(struct crew *crew);
/* The first with that role, or NULL; for ROLE_NONE a place for another one. */
struct member *crew_with(struct crew *crew, enum role role);
struct member *crew_of_pid(struct crew *crew, pid_t pid); /* NULL: it is none of them */
struct member *crew_oldest(struct crew *crew);            /* of those that retire; or NULL */
size_t crew_count(const struct crew *crew);
int64_t crew_deadline(const struct crew *crew); /* the earliest */
void crew_kill(struct crew *crew);
void crew_reopen_logs(struct crew *crew);

/* A line for each. */
void crew_describe(const struct crew *crew, struct buffer *out);
/* How one has ended, in words; caller frees. */
char *member_end_text(const struct member *member, int status);
/* After the process was reaped: the place is free. */
void member_finish(struct member *member);

#endif
