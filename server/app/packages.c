#include "app/packages.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOURCE_SIZE_MAX (16u << 20)

/* Adds the names in a list that ends with its line. false: one is no name of a package. */
static bool add_names(struct arguments *names, const char *list)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._";
    size_t end = strcspn(list, "\r\n");
    for (size_t at = 0; at < end;) {
        size_t gap = strspn(list + at, ", \t"), len = strspn(list + at + gap, allowed);
        at += gap;
        if (at >= end)
            break;
        if (len == 0 || list[at] == '-')
            return false;
        arguments_add(names, "%.*s", (int)len, list + at);
        at += len;
    }
    return true;
}

static bool find_names(struct arguments *names, const char *text)
{
    static const char mark[] = "// cloudgate: pkgs=";
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, mark, strlen(mark)) == 0 && !add_names(names, line + strlen(mark)))
            return false;
    }
    return true;
}

/* What the command writes to stdout. */
static int read_output(const struct arguments *command, struct buffer *output)
{
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t pid;
    int error = posix_spawnp(&pid, command->items[0], &actions, NULL, command->items, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char part[1024];
    ssize_t n = 0;
    while (error == 0 && ((n = read(ends[0], part, sizeof part)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            buffer_append(output, part, (size_t)n);
    close(ends[0]);
    if (error != 0)
        return -error;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOPKG;
}

static int ask(const struct arguments *names, struct arguments *command, char **ret_error)
{
    struct arguments question = {0};
    struct buffer answer = {0};
    const char *program = getenv("PKG_CONFIG");
    arguments_split(&question, program && program[0] ? program : "pkg-config");
    arguments_add(&question, "--cflags");
    arguments_add(&question, "--libs");
    for (size_t i = 0; i < names->count; i++)
        arguments_add(&question, "%s", names->items[i]);
    int result = read_output(&question, &answer);
    if (result == 0)
        arguments_split(command, answer.data);
    else
        *ret_error = result == -ENOPKG ? xstrdup("pkg-config does not know the packages")
                                       : xsprintf("can't run %s: %s", question.items[0], strerror(-result));
    buffer_finish(&answer);
    arguments_finish(&question);
    return result;
}

int packages_add(const char *source, struct arguments *command, char **ret_error)
{
    char *text;
    struct stat stat;
    struct arguments names = {0};
    int result = file_read(source, SOURCE_SIZE_MAX, &text, &stat);
    if (result < 0) {
        *ret_error = xstrdup(strerror(-result));
        return result;
    }
    if (!find_names(&names, text)) {
        result = -EINVAL;
        *ret_error = xstrdup("`// cloudgate: pkgs=` wants names of packages, as in pkgs=sqlite3,libcurl");
    } else if (names.count > 0) {
        result = ask(&names, command, ret_error);
    }
    arguments_finish(&names);
    free(text);
    return result;
}
