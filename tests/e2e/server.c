#include "server.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENVIRONMENT_SIZE 64
#define PATIENCE 5000 /* pauses of 10 ms before something counts as hung */

static const char *const inherited[] = {"PATH",          "TMPDIR",       "ASAN_OPTIONS",
                                        "UBSAN_OPTIONS", "TSAN_OPTIONS", NULL};
static const char *const sanitizer_marks[] = {"AddressSanitizer", "LeakSanitizer", "ThreadSanitizer",
                                              "runtime error:", NULL};

static bool given(const char *const environment[], const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; environment[i] != NULL; i++)
        if (strncmp(environment[i], name, len) == 0 && environment[i][len] == '=')
            return true;
    return false;
}

/* The test's own variables come first, what they do not set is set so that a server disturbs nobody. */
static void compose(char *ret[ENVIRONMENT_SIZE], const struct server *server, const char *const environment[])
{
    const char *const defaults[][2] = {{"HOST", "127.0.0.1"},
                                       {"THREADS", "2"},
                                       {"SHM_SIZE", "16777216"},
                                       {"STATE_DIR", text_print("%s.state", server->errors)},
                                       {"PORT", given(environment, "SSL") ? NULL : "0"}};
    size_t count = 0;
    for (; environment[count] != NULL && count < ENVIRONMENT_SIZE / 2; count++)
        ret[count] = strdup(environment[count]);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (defaults[i][1] != NULL && !given(environment, defaults[i][0]))
            ret[count++] = text_print("%s=%s", defaults[i][0], defaults[i][1]);
    for (size_t i = 0; inherited[i] != NULL; i++)
        if (getenv(inherited[i]) != NULL)
            ret[count++] = text_print("%s=%s", inherited[i], getenv(inherited[i]));
    ret[count] = NULL;
}

static void become(const struct server *server, char *const environment[], const char *const arguments[])
{
    const char *binary = getenv("CLOUDGATE") ? getenv("CLOUDGATE") : "build/cc/cloudgate";
    char *argv[16] = {(char *)binary, NULL};
    int output = open(server->output, O_WRONLY | O_APPEND),
        errors = open(server->errors, O_WRONLY | O_APPEND);
    for (size_t i = 0; arguments[i] != NULL && i < 14; i++)
        argv[i + 1] = (char *)arguments[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
        close(fd);
    execve(binary, argv, environment);
    perror(binary);
    _exit(127);
}

static struct server *launch(const struct folder *folder, const char *const environment[],
                             const char *const arguments[])
{
    static unsigned number;
    char *variables[ENVIRONMENT_SIZE];
    struct server *server = calloc(1, sizeof *server);
    ck_assert_ptr_nonnull(server);
    server->folder = folder;
    number++;
    server->output = text_print("%s/server-%d-%u.out", harness_folder(), (int)getpid(), number);
    server->errors = text_print("%s/server-%d-%u.err", harness_folder(), (int)getpid(), number);
    close(open(server->output, O_CREAT | O_WRONLY, 0600));
    close(open(server->errors, O_CREAT | O_WRONLY, 0600));
    compose(variables, server, environment);
    server->pid = fork();
    ck_assert_int_ge(server->pid, 0);
    if (server->pid == 0)
        become(server, variables, arguments);
    return server;
}

static char *contents(const char *path)
{
    struct folder root = {"/"};
    return folder_read(&root, path, NULL);
}

char *server_errors(const struct server *server)
{
    return contents(server->errors);
}

char *server_output(const struct server *server)
{
    return contents(server->output);
}

/* The port of "Listening on SCHEME://HOST:PORT", once the whole line is there. */
static int listening_port(const char *output, const char *scheme)
{
    char *mark = text_print("Listening on %s://", scheme);
    const char *line = strstr(output, mark), *end = line ? strchr(line, '\n') : NULL;
    if (end == NULL)
        return 0;
    while (end > line && (end[-1] < '0' || end[-1] > '9'))
        end--;
    while (end > line && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return atoi(end);
}

static pid_t worker_of(pid_t supervisor)
{
    char line[64] = "";
    FILE *file = fopen(text_print("/proc/%d/task/%d/children", (int)supervisor, (int)supervisor), "re");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    return atoi(line);
}

struct server *server_start(const struct folder *folder, const char *const environment[])
{
    bool tls = given(environment, "SSL"), plain = !tls || given(environment, "PORT");
    struct server *server = launch(folder, environment, (const char *const[]){folder->path, NULL});
    for (int i = 0; i < PATIENCE; i++) {
        char *output = server_output(server);
        server->port = listening_port(output, "http");
        server->tls_port = listening_port(output, "https");
        if ((!plain || server->port != 0) && (!tls || server->tls_port != 0)) {
            server->worker = worker_of(server->pid);
            return server;
        }
        int status;
        ck_assert_msg(waitpid(server->pid, &status, WNOHANG) == 0, "the server ended with status %d\n%s%s",
                      status, output, server_errors(server));
        free(output);
        pause_ms(10);
    }
    kill(server->pid, SIGKILL);
    ck_abort_msg("the server does not listen\n%s%s", server_output(server), server_errors(server));
}

static bool wait_for_end(pid_t pid, int *ret_status)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (waitpid(pid, ret_status, WNOHANG) == pid)
            return true;
        pause_ms(10);
    }
    kill(pid, SIGKILL);
    waitpid(pid, ret_status, 0);
    return false;
}

void server_renew(struct server *server)
{
    char line[64];
    for (int i = 0; i < PATIENCE; i++) {
        line[0] = '\0';
        FILE *file = fopen(text_print("/proc/%d/task/%d/children", (int)server->pid, (int)server->pid), "re");
        bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
        if (file != NULL)
            fclose(file);
        if (read && strchr(line, ' ') == strrchr(line, ' '))
            break;
        pause_ms(10);
    }
    server->worker = atoi(line);
}

void server_stop(struct server *server)
{
    int status = 0;
    if (server == NULL)
        return;
    pid_t worker = worker_of(server->pid);
    if (worker != server->worker)
        harness_fail("worker %d was replaced by %d\n%s", (int)server->worker, (int)worker,
                     server_errors(server));
    kill(server->pid, SIGTERM);
    if (!wait_for_end(server->pid, &status))
        harness_fail("the server did not stop\n%s", server_errors(server));
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        harness_fail("the server ended with status %#x\n%s", (unsigned)status, server_errors(server));
    char *errors = server_errors(server);
    for (size_t i = 0; sanitizer_marks[i] != NULL; i++)
        if (strstr(errors, sanitizer_marks[i]) != NULL)
            harness_fail("%s", errors);
}

int server_run(const struct folder *folder, const char *const environment[], const char *const arguments[],
               char **ret_output)
{
    int status = 0;
    struct server *server = launch(folder, environment, arguments);
    bool ended = wait_for_end(server->pid, &status);
    ck_assert_msg(ended, "the server does not end\n%s", server_errors(server));
    ck_assert_msg(WIFEXITED(status), "the server ended with status %#x\n%s", (unsigned)status,
                  server_errors(server));
    *ret_output = text_print("%s%s", server_output(server), server_errors(server));
    return WEXITSTATUS(status);
}

static bool holds_all(const char *line, size_t len, const char *const words[])
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (memmem(line, len, words[i], strlen(words[i])) == NULL)
            return false;
    return true;
}

void server_expect_log(const struct server *server, const char *const words[])
{
    for (int i = 0; i < PATIENCE / 5; i++) {
        char *errors = server_errors(server);
        for (const char *line = errors, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
            if (holds_all(line, (size_t)(end - line), words))
                return;
        free(errors);
        pause_ms(10);
    }
    ck_abort_msg("no line of the log holds \"%s\", \"%s\"\n%s", words[0], words[1] ? words[1] : "",
                 server_errors(server));
}
