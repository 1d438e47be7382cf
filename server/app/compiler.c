#include "app/compiler.h"

#include "app/build.h"
#include "app/packages.h"
#include "app/walk.h"
#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool compiler_is_source(const char *name)
{
    return walk_ends_in(name, ".c") || compiler_is_cpp(name);
}

bool compiler_is_cpp(const char *name)
{
    return walk_ends_in(name, ".cc") || walk_ends_in(name, ".cpp");
}

bool compiler_is_header(const char *name)
{
    return walk_ends_in(name, ".h") || walk_ends_in(name, ".hh") || walk_ends_in(name, ".hpp");
}

static const char *environment(const char *name, const char *fallback)
{
    const char *value = getenv(name);
    return value && value[0] ? value : fallback;
}

int compiler_command(const struct settings *settings, const char *source, const char *object,
                     const struct arguments *library, struct arguments *ret_command, char **ret_error)
{
    struct arguments command = {0};
    bool cpp = compiler_is_cpp(source);
    arguments_split(&command, cpp ? environment("CXX", "c++") : environment("CC", "cc"));
    arguments_split(&command, "-O2 -g -fPIC -shared -Wall -Wextra -Werror=format-security");
    /* CG_MODULE(...) names some members only; C++ compilers, other than C ones, warn of that. */
    arguments_add(&command, cpp ? "-Wno-missing-field-initializers" : "-std=gnu11");
    arguments_split(&command, environment(cpp ? "CXXFLAGS" : "CFLAGS", NULL));
    arguments_add(&command, "-I%s/include", settings->state_dir);
    arguments_add(&command, "-I%s", settings->functions_dir);
    arguments_add(&command, "-I%s/_lib", settings->functions_dir);
    arguments_add(&command, "-o");
    arguments_add(&command, "%s", object);
    arguments_add(&command, "%s", source);
    if (cpp && library->count > 0)
        arguments_split(&command, "-x c"); /* a C++ compiler takes .c for C++ */
    for (size_t i = 0; i < library->count; i++)
        arguments_add(&command, "%s", library->items[i]);
    if (cpp && library->count > 0)
        arguments_split(&command, "-x none");
    int result = packages_add(source, &command, ret_error);
    if (result < 0)
        arguments_finish(&command);
    else
        *ret_command = command;
    return result;
}

int compiler_start(const struct arguments *command, pid_t *ret_pid)
{
    return -posix_spawnp(ret_pid, command->items[0], NULL, NULL, command->items, environ);
}

bool compiler_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_written(const char *path)
{
    char *text;
    struct stat stat;
    if (file_read(path, 1u << 20, &text, &stat) < 0)
        return false;
    bool same =
        (size_t)stat.st_size == build_header_size && memcmp(text, build_header, build_header_size) == 0;
    free(text);
    return same;
}

static int write_file(const char *path, const char *text, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int result = file_write_all(fd, text, size);
    if (close(fd) < 0 && result == 0)
        result = -errno;
    return result;
}

int compiler_write_header(const char *state_dir)
{
    char *dir = xsprintf("%s/include", state_dir), *path = xsprintf("%s/cloudgate.h", dir);
    char *beside = xsprintf("%s.%d", path, (int)getpid());
    int result = 0;
    if (!is_written(path)) {
        if ((mkdir(state_dir, 0700) < 0 && errno != EEXIST) || (mkdir(dir, 0755) < 0 && errno != EEXIST))
            result = -errno;
        if (result == 0)
            result = write_file(beside, build_header, build_header_size);
        if (result == 0 && rename(beside, path) < 0)
            result = -errno;
        if (result < 0)
            unlink(beside);
    }
    free(beside);
    free(path);
    free(dir);
    return result;
}
