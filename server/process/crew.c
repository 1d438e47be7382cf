#include "process/crew.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <string.h>
#include <sys/wait.h>

void crew_init(struct crew *crew)
{
    for (size_t i = 0; i < CREW_MAX; i++)
        crew->members[i] = (struct member){.process = {.fd = -1}};
}

struct member *crew_with(struct crew *crew, enum role role)
{
    for (size_t i = 0; i < CREW_MAX; i++)
        if (crew->members[i].role == role)
            return &crew->members[i];
    return NULL;
}

struct member *crew_of_pid(struct crew *crew, pid_t pid)
{
    for (size_t i = 0; i < CREW_MAX; i++)
        if (crew->members[i].role != ROLE_NONE && crew->members[i].process.pid == pid)
            return &crew->members[i];
    return NULL;
}

struct member *crew_oldest(struct crew *crew)
{
    struct member *oldest = NULL;
    for (size_t i = 0; i < CREW_MAX; i++) {
        struct member *member = &crew->members[i];
        if (member->role == ROLE_RETIRING && (oldest == NULL || member->deadline < oldest->deadline))
            oldest = member;
    }
    return oldest;
}

size_t crew_count(const struct crew *crew)
{
    size_t count = 0;
    for (size_t i = 0; i < CREW_MAX; i++)
        count += crew->members[i].role != ROLE_NONE;
    return count;
}

int64_t crew_deadline(const struct crew *crew)
{
    int64_t first = CREW_NEVER;
    for (size_t i = 0; i < CREW_MAX; i++)
        if (crew->members[i].role != ROLE_NONE && crew->members[i].deadline < first)
            first = crew->members[i].deadline;
    return first;
}

void crew_kill(struct crew *crew)
{
    for (size_t i = 0; i < CREW_MAX; i++)
        generation_kill(&crew->members[i].process);
}

void crew_reopen_logs(struct crew *crew)
{
    log_info("USR1: access logs are opened anew");
    for (size_t i = 0; i < CREW_MAX; i++)
        if (crew->members[i].role != ROLE_NONE)
            (void)generation_reopen_logs(&crew->members[i].process); /* one that ends opens nothing */
}

void crew_describe(const struct crew *crew, struct buffer *out)
{
    static const char *const names[] = {
        [ROLE_STARTING] = "starting", [ROLE_SERVING] = "serving", [ROLE_RETIRING] = "retiring"};
    for (size_t i = 0; i < CREW_MAX; i++) {
        const struct generation *worker = &crew->members[i].process;
        if (crew->members[i].role == ROLE_NONE)
            continue;
        buffer_printf(out, "worker     %d, %s", (int)worker->pid, names[crew->members[i].role]);
        if (worker->ready)
            buffer_printf(out, ", ready for %lld s: %s",
                          (long long)(monotonic_ms() - worker->ready_since) / 1000, worker->text);
        buffer_text(out, "\n");
    }
}

char *member_end_text(const struct member *member, int status)
{
    const struct generation *worker = &member->process;
    const int pid = (int)worker->pid;
    if (worker->failed)
        return xsprintf("worker %d cannot start: %s", pid, worker->text);
    if (WIFSIGNALED(status))
        return xsprintf("worker %d was killed by signal %d (%s)%s", pid, WTERMSIG(status),
                        strsignal(WTERMSIG(status)), worker->ready ? "" : " before it was ready");
    return xsprintf("worker %d ended with exit status %d%s", pid, WEXITSTATUS(status),
                    worker->ready ? "" : " before it was ready");
}

void member_finish(struct member *member)
{
    generation_finish(&member->process);
    *member = (struct member){.process = {.fd = -1}};
}
