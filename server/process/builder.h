/* `cloudgate build` as a child of the supervisor, for sources that are saved. */
#ifndef PROCESS_BUILDER_H
#define PROCESS_BUILDER_H

#include <stdbool.h>
#include <sys/types.h>

struct builder {
    pid_t pid; /* 0: it does not run */
};

/* argv as main had it. What the compiler says goes where the server's own log goes. 0 or a negative errno. */
int builder_start(struct builder *builder, char *const argv[]);
static inline bool builder_runs(const struct builder *builder)
{
    return builder->pid != 0;
}

/* Whether that was the process that has ended. */
bool builder_ended(struct builder *builder, pid_t pid, int status);
void builder_end(struct builder *builder);

#endif
