#include "process/builder.h"

#include "base/alloc.h"
#include "base/log.h"
#include "process/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXECUTABLE "/proc/self/exe"

/* The same arguments with another command. */
static _Noreturn void become_builder(char *const argv[])
{
    size_t count = 0, first = 1;
    while (argv[count] != NULL)
        count++;
    char **arguments = xzalloc((count + 2) * sizeof *arguments);
    if (count > 1 && (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "dev") == 0))
        first = 2;
    arguments[0] = argv[0];
    arguments[1] = (char[]){"build"};
    memcpy(arguments + 2, argv + first, (count - first) * sizeof *arguments);
    signals_init();
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(EXECUTABLE, arguments);
    _exit(127);
}

int builder_start(struct builder *builder, char *const argv[])
{
    pid_t pid = fork();
    if (pid == 0)
        become_builder(argv);
    if (pid < 0)
        return -errno;
    builder->pid = pid;
    return 0;
}

bool builder_ended(struct builder *builder, pid_t pid, int status)
{
    if (builder->pid != pid || pid == 0)
        return false;
    builder->pid = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        log_error("some functions were not built; what was there before goes on");
    return true;
}

void builder_end(struct builder *builder)
{
    if (builder->pid != 0)
        kill(builder->pid, SIGTERM);
}
