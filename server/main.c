/* The command line: cloudgate [COMMAND] [DIR] [--FLAG VALUE]... */
#include "app/build.h"
#include "app/router.h"
#include "base/alloc.h"
#include "base/log.h"
#include "config/describe.h"
#include "config/load.h"
#include "config/nearest.h"
#include "process/control.h"
#include "process/handover.h"
#include "process/health.h"
#include "process/signals.h"
#include "process/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum exit_status {
    STATUS_GOOD = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
};

struct command_line {
    int argc; /* as main has it; the worker gets the same */
    char **argv;
    int setting_argc; /* without program and command: flags and DIR */
    char **setting_argv;
};

struct command {
    const char *name;
    int (*run)(const struct command_line *line);
};

static const char settings_text[] =
    "Each is a flag (--ssl-port 8443), a variable (SSL_PORT=8443, or CLOUDGATE_SSL_PORT=8443), a line of "
    ".env or a\n"
    "line of apiconfig.yaml (ssl_port: 8443), in this order of precedence. Sizes are written like 64MB, "
    "times like\n"
    "500ms, 8s or 2m; a number alone is bytes or ms. Yes or no: 1 0, true false, yes no, on off.\n"
    "\n";

static const char help_text[] =
    "cloudgate " CLOUDGATE_VERSION ", an application server for functions written in C\n"
    "\n"
    "usage: cloudgate [COMMAND] [DIR] [--FLAG VALUE]...\n"
    "\n"
    "  run       serve the app in DIR (default: the current folder); so does no command at all\n"
    "  check     say what is wrong with the app's settings, or print each with its origin\n"
    "  build     compile DIR/functions/**/*.c to the modules that are served at /api/...\n"
    "  dev       the same as run, for writing functions: compiles what is saved, on 127.0.0.1\n"
    "  reload    let the running server take up functions, settings and certificates, without a pause\n"
    "  status    what the running server is doing\n"
    "  stop      let it finish what has begun, and end\n"
    "  health    ask the running server: GET /healthz on PORT, or with SSL a connection to SSL_PORT\n"
    "  version   print the version\n"
    "  help      print this; `cloudgate help settings` tells all that can be set\n"
    "\n"
    "DIR holds public/ (files), functions/ (modules), apiconfig.yaml and .env, all optional.\n"
    "Each setting is a flag, a variable or a line of apiconfig.yaml: --port 8080, PORT=8080, port: 8080.\n"
    "Those of every day:\n"
    "\n"
    "  --port 3000      0 takes a free port\n"
    "  --host ADDRESS   default: every address of this machine\n"
    "  --threads N      default: the CPUs that this process may use\n"
    "  --ssl            https on --ssl-port (443) with --ssl-cert and --ssl-key, or self-signed\n"
    "  --verbose        say more\n"
    "\n"
    "`cloudgate help settings` tells of them all. Exit status: 0 good, 1 failed, 2 wrong usage.\n";

/* NULL when they are bad, and *ret_error says why; caller frees. */
static struct settings *try_settings(const struct command_line *line, char **ret_error)
{
    struct settings *settings;
    if (settings_load(line->setting_argc, line->setting_argv, &settings, ret_error) < 0)
        return NULL;
    if (settings->verbose)
        log_set_level(CG_DEBUG);
    return settings;
}

/* NULL when they are bad, which is then said. */
static struct settings *load_settings(const struct command_line *line)
{
    char *error;
    struct settings *settings = try_settings(line, &error);
    if (settings == NULL) {
        size_t len = strlen(error);
        fprintf(stderr, "%s%s", error, len > 0 && error[len - 1] == '\n' ? "" : "\n");
        free(error);
    }
    return settings;
}

/* ---- commands ---- */

static int command_run(const struct command_line *line)
{
    struct settings *settings = load_settings(line);
    if (settings == NULL)
        return STATUS_FAILED;
    for (size_t i = 0; i < settings->warning_count; i++)
        log_warning("%s", settings->warnings[i]);
    int status = supervisor_run(line->argv, settings);
    settings_destroy(settings);
    return status;
}

static void print_problem(const char *text)
{
    fprintf(stderr, "%s\n", text);
}

/* Loads what a worker would load, but starts none of it. How many functions could not be called. */
static size_t check_functions(const struct settings *settings)
{
    struct modules modules = {0};
    char *error = NULL;
    if (modules_load(settings, &modules, &error) != 0) {
        print_problem(error);
        free(error);
        return 1;
    }
    struct router *router = router_create(settings, &modules);
    size_t count = router_tell_problems(router, &modules, print_problem);
    router_destroy(router);
    modules_finish(&modules);
    return count;
}

static int command_check(const struct command_line *line)
{
    struct settings *settings = load_settings(line);
    if (settings == NULL)
        return STATUS_FAILED;
    char *text = settings_describe(settings);
    fputs(text, stdout);
    free(text);
    for (size_t i = 0; i < settings->warning_count; i++)
        fprintf(stderr, "warning: %s\n", settings->warnings[i]);
    int status = check_functions(settings) == 0 ? STATUS_GOOD : STATUS_FAILED;
    settings_destroy(settings);
    return status;
}

static int command_build(const struct command_line *line)
{
    struct settings *settings = load_settings(line);
    if (settings == NULL)
        return STATUS_FAILED;
    int failures = build_all(settings, stdout);
    if (failures < 0)
        fprintf(stderr, "cloudgate: cannot build in %s: %s\n", settings->functions_dir, strerror(-failures));
    settings_destroy(settings);
    return failures == 0 ? STATUS_GOOD : STATUS_FAILED;
}

static int command_health(const struct command_line *line)
{
    struct settings *settings = load_settings(line);
    if (settings == NULL)
        return STATUS_FAILED;
    int error = health_check(settings);
    int port = settings->ssl ? settings->ssl_port : settings->port;
    if (error == -EBADMSG)
        fprintf(stderr, "cloudgate: /healthz on port %d is not answered with 200\n", port);
    else if (error < 0)
        fprintf(stderr, "cloudgate: no answer on port %d: %s\n", port, strerror(-error));
    settings_destroy(settings);
    return error == 0 ? STATUS_GOOD : STATUS_FAILED;
}

/* What the command's name says is what the supervisor is told. */
static int tell_supervisor(const struct command_line *line, const char *word)
{
    struct settings *settings = load_settings(line);
    if (settings == NULL)
        return STATUS_FAILED;
    int error = control_ask(settings->state_dir, word);
    if (error != 0 && error != -EPROTO)
        fprintf(stderr, "cloudgate: no server can be reached at %s/control: %s\n", settings->state_dir,
                strerror(-error));
    settings_destroy(settings);
    return error == 0 ? STATUS_GOOD : STATUS_FAILED;
}

static int command_reload(const struct command_line *line)
{
    return tell_supervisor(line, "reload");
}

static int command_status(const struct command_line *line)
{
    return tell_supervisor(line, "status");
}

static int command_stop(const struct command_line *line)
{
    return tell_supervisor(line, "stop");
}

/* Variables, so that the worker and the builder see the same. */
static int command_dev(const struct command_line *line)
{
    if (setenv("WATCH", "1", 0) != 0 || setenv("HOST", "127.0.0.1", 0) != 0)
        return STATUS_FAILED;
    int status = command_build(line);
    if (status != STATUS_GOOD)
        fprintf(stderr, "cloudgate: some functions were not built; save them again once they are mended\n");
    return command_run(line);
}

static int command_version(const struct command_line *line)
{
    (void)line;
    puts("cloudgate " CLOUDGATE_VERSION);
    return STATUS_GOOD;
}

static int command_help(const struct command_line *line)
{
    if (line->setting_argc == 1 && strcmp(line->setting_argv[0], "settings") == 0) {
        char *text = options_describe();
        printf("%s%s", settings_text, text);
        free(text);
    } else {
        fputs(help_text, stdout);
    }
    return STATUS_GOOD;
}

/* ---- which one ---- */

static const struct command commands[] = {
    {"run", command_run},   {"check", command_check},   {"build", command_build},
    {"dev", command_dev},   {"reload", command_reload}, {"status", command_status},
    {"stop", command_stop}, {"health", command_health}, {"version", command_version},
    {"help", command_help},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

/* The flags that are commands, as people try them. */
static const struct command *command_of_flag(const char *flag)
{
    static const struct {
        const char *flag, *command;
    } flags[] = {{"--check-config", "check"},
                 {"--version", "version"},
                 {"-v", "version"},
                 {"--help", "help"},
                 {"-h", "help"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(flags[i].flag, flag) == 0)
            return command_named(flags[i].command);
    }
    return NULL;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void complain(const char *word)
{
    struct nearest nearest = {.name = NULL};
    if (word[0] == '.' || strchr(word, '/') != NULL) {
        fprintf(stderr, "cloudgate: there is no folder '%s'\n", word);
        return;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        nearest_try(&nearest, word, commands[i].name);
    if (nearest.name != NULL)
        fprintf(stderr, "cloudgate: unknown command '%s', did you mean '%s'?\n", word, nearest.name);
    else
        fprintf(stderr, "cloudgate: '%s' is neither a command nor a folder; try `cloudgate help`\n", word);
}

/* Takes the command out of the arguments. A word that is no command is DIR; NULL when it is none of both. */
static const struct command *choose(struct command_line *line)
{
    const struct command *chosen = &commands[0];
    int first = 1;
    if (line->argc > 1 && line->argv[1][0] != '-') {
        const struct command *named = command_named(line->argv[1]);
        if (named == NULL && !is_folder(line->argv[1])) {
            complain(line->argv[1]);
            return NULL;
        }
        if (named != NULL) {
            chosen = named;
            first = 2;
        }
    }
    for (int i = first; i < line->argc; i++) {
        const struct command *flagged = command_of_flag(line->argv[i]);
        if (flagged != NULL)
            chosen = flagged;
        else
            line->setting_argv[line->setting_argc++] = line->argv[i];
    }
    return chosen;
}

/* ---- processes ---- */

/* Else a socket of ours could get the number of a stream that somebody prints to. */
static bool open_standard_streams(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
    return fd >= 0;
}

static int fail_worker(const struct inheritance *inheritance, char *reason)
{
    for (char *c = reason; *c != '\0'; c++)
        if (*c == '\n')
            *c = c[1] == '\0' ? '\0' : ' ';
    dprintf(inheritance->supervisor_fd, "failed %s\n", reason);
    free(reason);
    return STATUS_FAILED;
}

/* The number of loops is what there are sockets for, even when the machine's limits have changed since. */
static int run_worker(const struct command_line *line, const struct inheritance *inheritance)
{
    char *error;
    struct settings *settings = try_settings(line, &error);
    if (settings == NULL)
        return fail_worker(inheritance, error);
    char *conflict = inheritance->reload ? handover_conflict(inheritance, settings) : NULL;
    if (conflict != NULL) {
        settings_destroy(settings);
        error = xsprintf("%s now, which needs a restart", conflict);
        free(conflict);
        return fail_worker(inheritance, error);
    }
    settings->threads = (int)handover_loops(inheritance);
    settings_export_env(settings);
    int status = worker_run(settings, inheritance);
    settings_destroy(settings);
    return status;
}

static int run_command(const struct command_line *line, const struct command *command)
{
    int status = command->run(line);
    if (fflush(stdout) != 0 && command->run != command_run && command->run != command_dev) {
        fprintf(stderr, "cloudgate: cannot write: %s\n", strerror(errno));
        status = STATUS_FAILED;
    }
    return status;
}

int main(int argc, char *argv[])
{
    struct inheritance inheritance;
    struct command_line line = {
        .argc = argc,
        .argv = argv,
    };
    int status;
    if (!open_standard_streams())
        return STATUS_FAILED;
    int inherited = handover_take(&inheritance);
    if (inherited == 1)
        signals_leave_to_supervisor();
    signals_init();
    prctl(PR_SET_NAME,
          "cloudgate"); /* a worker was started by way of /proc/self/exe, so it is called "exe" */

    line.setting_argv = xzalloc(((size_t)argc + 1) * sizeof *line.setting_argv);
    const struct command *command = choose(&line);
    if (inherited < 0) {
        fprintf(stderr, "cloudgate: " HANDOVER_VARIABLE " is for the server's own use and must not be set\n");
        status = STATUS_USAGE;
    } else if (command == NULL) {
        status = STATUS_USAGE;
    } else if (inherited == 1) {
        status = run_worker(&line, &inheritance);
        handover_finish(&inheritance);
    } else {
        status = run_command(&line, command);
    }
    free(line.setting_argv);
    return status;
}
