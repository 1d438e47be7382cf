/* Supervisor and worker, and the command line. */
#include "harness.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const nothing[] = {NULL};

static const struct folder *make_app(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_add_function(folder, "tests/e2e/functions/unique.c", "unique");
    folder_add_function(folder, "tests/e2e/functions/wait.c", "wait");
    return folder;
}

/* The first child of a process, 0 when it has none. */
static pid_t child_of(pid_t pid)
{
    char text[32] = "";
    int fd = open(text_print("/proc/%d/task/%d/children", (int)pid, (int)pid), O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(read(fd, text, sizeof text - 1), 0);
    close(fd);
    return atoi(text);
}

static void wait_for_file(const char *path)
{
    while (access(path, F_OK) != 0)
        pause_ms(10);
}

static void get_over(struct wire *wire, const char *target)
{
    wire_print(wire, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
}

/* Its exit status; the test's timeout ends an endless wait. */
static int wait_for_exit(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* ---- the worker's death ---- */

START_TEST(a_killed_worker_is_replaced_and_counters_survive)
{
    struct server *server = server_start(make_app(), nothing);
    struct wire *wire = wire_open(server->port);
    get_over(wire, "/api/unique");
    answer_expect_text(wire_answer(wire, "GET"), 200, "1 1\n");
    ck_assert_int_eq(kill(server->worker, SIGKILL), 0);
    wire_expect_end(wire);
    wire_close(wire);
    answer_expect_text(client_get(server, HTTP1, "/api/unique"), 200, "2 2\n"); /* it waited in the queue */
    server_expect_log(server, (const char *const[]){"killed by signal 9", "starting another one", NULL});
    pid_t second = child_of(server->pid);
    ck_assert_int_ne(second, server->worker);
    server->worker = second;
    server_stop(server);
}
END_TEST

START_TEST(a_worker_ends_with_its_supervisor)
{
    struct server *server = server_start(make_app(), nothing);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(server->pid, SIGKILL);
    ck_assert_int_eq(waitpid(server->pid, NULL, 0), server->pid);
    ck_assert_int_eq(wait_for_exit(server->worker), 0);
}
END_TEST

START_TEST(functions_do_not_see_the_handover)
{
    struct server *server = server_start(make_app(), nothing);
    answer_expect_text(client_get(server, HTTP1, "/api/wait"), 200, "hidden\n");
    server_stop(server);
}
END_TEST

/* ---- stops ---- */

START_TEST(term_lets_a_request_finish)
{
    const struct folder *folder = make_app();
    struct server *server = server_start(folder, nothing);
    const char *entered = folder_path(folder, "entered"), *until = folder_path(folder, "until");
    struct wire *wire = wire_open(server->port);
    get_over(wire, text_print("/api/wait?entered=%s&until=%s", entered, until));
    wait_for_file(entered);
    kill(server->pid, SIGTERM);
    server_expect_log(server, (const char *const[]){"stopping", NULL});
    folder_print(folder, "until", "now");
    answer_expect_text(wire_answer(wire, "GET"), 200, "hidden\n");
    wire_expect_end(wire);
    wire_close(wire);
    ck_assert_int_eq(wait_for_exit(server->pid), 0);
}
END_TEST

START_TEST(a_second_term_stops_at_once)
{
    const struct folder *folder = make_app();
    struct server *server = server_start(folder, (const char *const[]){"STOP_TIMEOUT=10m", NULL});
    const char *entered = folder_path(folder, "entered");
    struct wire *wire = wire_open(server->port);
    get_over(wire, text_print("/api/wait?entered=%s&until=/nonexistent", entered));
    wait_for_file(entered);
    kill(server->pid, SIGTERM);
    server_expect_log(server, (const char *const[]){"stopping", NULL});
    kill(server->pid, SIGINT);
    ck_assert_int_eq(wait_for_exit(server->pid), 0);
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

START_TEST(the_stop_timeout_ends_what_hangs)
{
    const struct folder *folder = make_app();
    struct server *server = server_start(folder, (const char *const[]){"STOP_TIMEOUT=100ms", NULL});
    const char *entered = folder_path(folder, "entered");
    struct wire *wire = wire_open(server->port);
    get_over(wire, text_print("/api/wait?entered=%s&until=/nonexistent", entered));
    wait_for_file(entered);
    kill(server->pid, SIGTERM);
    ck_assert_int_eq(wait_for_exit(server->pid), 0);
    wire_close(wire);
}
END_TEST

/* Ctrl-C and service managers signal every process of a group. */
START_TEST(the_supervisor_decides_about_signals)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE};
    struct server *server = server_start(make_app(), nothing);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        kill(server->worker, signals[i]);
    kill(server->pid, SIGUSR1);
    kill(server->pid, SIGPIPE);
    server_expect_log(server, (const char *const[]){"USR1", NULL});
    answer_expect_text(client_get(server, HTTP1, "/index.html"), 200, "<p>home</p>\n");
    server_stop(server);
}
END_TEST

/* ---- who started it ---- */

/* Starts the binary without the harness's files: its stdout is the pipe's. flags as for clone(2). */
static pid_t launch(const struct folder *folder, unsigned long flags, int *ret_output)
{
    const char *binary = getenv("CLOUDGATE") ? getenv("CLOUDGATE") : "build/cc/cloudgate";
    int output[2];
    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid < 0)
        close(output[0]);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(output[1], STDOUT_FILENO);
        execl(binary, binary, folder->path, "--port", "0", "--host", "127.0.0.1", "--threads", "1", NULL);
        _exit(127);
    }
    close(output[1]);
    *ret_output = output[0];
    return pid;
}

static int read_port(int output)
{
    char line[1024];
    FILE *file = fdopen(dup(output), "re");
    while (fgets(line, sizeof line, file) != NULL) {
        if (strstr(line, "Listening on http://") != NULL) {
            fclose(file);
            return atoi(strrchr(line, ':') + 1);
        }
    }
    ck_abort_msg("it does not listen");
}

START_TEST(case_99_nobody_reads_its_output)
{
    int output;
    pid_t pid = launch(make_app(), 0, &output);
    close(output);
    while (child_of(pid) == 0)
        pause_ms(10);
    kill(pid, SIGTERM);
    ck_assert_int_eq(wait_for_exit(pid), 0);
}
END_TEST

START_TEST(it_is_safe_as_pid_1)
{
    int output;
    pid_t pid = launch(make_app(), CLONE_NEWPID, &output);
    if (pid < 0 && errno == EPERM) {
        puts("skipped: pid namespaces are not permitted");
        return;
    }
    ck_assert_int_gt(pid, 0);
    struct wire *wire = wire_open(read_port(output));
    get_over(wire, "/index.html");
    answer_expect_text(wire_answer(wire, "GET"), 200, "<p>home</p>\n");
    wire_close(wire);
    kill(pid, SIGTERM);
    ck_assert_int_eq(wait_for_exit(pid), 0);
}
END_TEST

/* ---- ports ---- */

START_TEST(case_98_second_instance)
{
    const struct folder *folder = make_app();
    struct server *server = server_start(folder, nothing);
    char *output;
    int status = server_run(folder, (const char *const[]){text_print("PORT=%d", server->port), NULL},
                            (const char *const[]){folder->path, NULL}, &output);
    ck_assert_int_eq(status, 1);
    ck_assert_msg(strstr(output, text_print("127.0.0.1:%d", server->port)) != NULL, "%s", output);
    bool named = strstr(output, text_print("(pid %d)", (int)server->pid)) != NULL ||
                 strstr(output, text_print("(pid %d)", (int)server->worker)) != NULL;
    ck_assert_msg(named && strstr(output, "in use by 'cloudgate'") != NULL, "%s", output);
    ck_assert_ptr_null(strstr(output, "Listening"));
    answer_expect(client_get(server, HTTP1, "/index.html"), 200);
    server_stop(server);
}
END_TEST

START_TEST(case_98_ipv6_only_holder)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    socklen_t len = sizeof address;
    const int on = 1;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0) {
        puts("skipped: no IPv6 here");
        return;
    }
    ck_assert_int_eq(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, 1), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    const struct folder *folder = make_app();
    char *output;
    int port = ntohs(address.sin6_port);
    int status = server_run(folder, (const char *const[]){"HOST=", text_print("PORT=%d", port), NULL},
                            (const char *const[]){folder->path, NULL}, &output);
    ck_assert_int_eq(status, 1);
    ck_assert_msg(strstr(output, text_print("[::]:%d", port)) != NULL, "%s", output);
    ck_assert_msg(strstr(output, text_print("(pid %d)", (int)getpid())) != NULL, "%s", output);
    close(fd);
}
END_TEST

/* ---- what the machine grants ---- */

static int count_loops(pid_t worker)
{
    int count = 0;
    DIR *dir = opendir(text_print("/proc/%d/task", (int)worker));
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char name[16] = "";
        int fd = open(text_print("/proc/%d/task/%s/comm", (int)worker, entry->d_name), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        ck_assert_int_ge(read(fd, name, sizeof name - 1), 0);
        close(fd);
        count += strncmp(name, "loop ", 5) == 0;
    }
    closedir(dir);
    return count;
}

START_TEST(case_105_threads_as_asked_for)
{
    struct server *server = server_start(make_app(), (const char *const[]){"THREADS=5", NULL});
    ck_assert_int_eq(count_loops(server->worker), 5);
    ck_assert_ptr_nonnull(strstr(server_output(server), "threads  5"));
    server_stop(server);
}
END_TEST

START_TEST(case_105_threads_as_the_cpus_allow)
{
    cpu_set_t allowed, one;
    int first = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(first, &allowed))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    struct server *server = server_start(make_app(), (const char *const[]){"THREADS=", NULL});
    ck_assert_int_eq(count_loops(server->worker), 1);
    server_stop(server);
}
END_TEST

START_TEST(case_97_the_descriptor_limit_is_raised)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 128;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    struct server *server = server_start(make_app(), (const char *const[]){"VERBOSE=1", NULL});
    server_expect_log(server, (const char *const[]){"limit of open files", "was 128", NULL});
    ck_assert_int_eq(prlimit(server->worker, RLIMIT_NOFILE, NULL, &limit), 0);
    ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
    server_stop(server);
}
END_TEST

/* ---- the command line ---- */

/* Runs the command on the folder; what it said is in ret_output. */
static int run(const struct folder *folder, const char *command, const char *variable, char **ret_output)
{
    return server_run(folder, (const char *const[]){variable, NULL},
                      (const char *const[]){command, folder->path, NULL}, ret_output);
}

START_TEST(health_asks_the_running_server)
{
    const struct folder *folder = make_app();
    struct server *server = server_start(folder, nothing);
    const char *port = text_print("PORT=%d", server->port);
    char *output;
    ck_assert_int_eq(run(folder, "health", port, &output), 0);
    ck_assert_str_eq(output, "");
    server_stop(server);
    ck_assert_int_eq(run(folder, "health", port, &output), 1);
    ck_assert_msg(strstr(output, port + strlen("PORT=")) != NULL, "%s", output);
}
END_TEST

START_TEST(check_tells_values_and_mistakes)
{
    const struct folder *folder = make_app();
    char *output;
    ck_assert_int_eq(run(folder, "check", "PORT=4321", &output), 0);
    ck_assert_msg(strstr(output, "4321") != NULL, "%s", output);
    ck_assert_int_eq(run(folder, "--check-config", "PORT=4321", &output), 0);
    ck_assert_msg(strstr(output, "4321") != NULL, "%s", output);
    ck_assert_int_eq(run(folder, "check", "PORT=http", &output), 1);
    ck_assert_msg(strstr(output, "PORT") != NULL, "%s", output);
    folder_print(folder, "apiconfig.yaml",
                 "REST:\n  /api/none: { path: none.so }\n  /api/no: { path: wait.so, handler: nope }\n");
    ck_assert_int_eq(run(folder, "check", "PORT=4321", &output), 1);
    ck_assert_msg(strstr(output, "none.so") != NULL && strstr(output, "nope") != NULL, "%s", output);
    folder_print(folder, "apiconfig.yaml", "%s", "");
    ck_assert_int_eq(run(folder, "run", "PORT=http", &output), 1);
    ck_assert_msg(strstr(output, "PORT") != NULL && strstr(output, "Listening") == NULL, "%s", output);
}
END_TEST

START_TEST(words_that_are_no_commands)
{
    const struct folder *folder = make_app();
    char *output;
    ck_assert_int_eq(run(folder, "chekc", "PORT=0", &output), 2);
    ck_assert_msg(strstr(output, "did you mean 'check'") != NULL, "%s", output);
    ck_assert_int_eq(run(folder, "./nowhere", "PORT=0", &output), 2);
    ck_assert_msg(strstr(output, "no folder './nowhere'") != NULL, "%s", output);
    ck_assert_int_eq(run(folder, "help", "PORT=0", &output), 0);
    ck_assert_msg(strstr(output, "usage: cloudgate") != NULL, "%s", output);
    ck_assert_int_eq(run(folder, "--version", "PORT=0", &output), 0);
    ck_assert_msg(strncmp(output, "cloudgate ", 10) == 0, "%s", output);
}
END_TEST

START_TEST(the_handover_is_not_for_people)
{
    const struct folder *folder = make_app();
    char *output;
    ck_assert_int_eq(run(folder, "run", "CLOUDGATE_WORKER=1", &output), 2);
    ck_assert_msg(strstr(output, "CLOUDGATE_WORKER") != NULL, "%s", output);
    ck_assert_int_eq(run(folder, "run", "CLOUDGATE_WORKER=shm:2,supervisor:2,ssl_port:0,plain:2/0", &output),
                     2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("process");
    TCase *worker = harness_case(suite, "worker", NULL, NULL);
    tcase_add_test(worker, a_killed_worker_is_replaced_and_counters_survive);
    tcase_add_test(worker, a_worker_ends_with_its_supervisor);
    tcase_add_test(worker, functions_do_not_see_the_handover);
    TCase *stop = harness_case(suite, "stop", NULL, NULL);
    tcase_add_test(stop, term_lets_a_request_finish);
    tcase_add_test(stop, a_second_term_stops_at_once);
    tcase_add_test(stop, the_stop_timeout_ends_what_hangs);
    tcase_add_test(stop, the_supervisor_decides_about_signals);
    TCase *start = harness_case(suite, "start", NULL, NULL);
    tcase_add_test(start, case_99_nobody_reads_its_output);
    tcase_add_test(start, it_is_safe_as_pid_1);
    tcase_add_test(start, case_98_second_instance);
    tcase_add_test(start, case_98_ipv6_only_holder);
    tcase_add_test(start, case_105_threads_as_asked_for);
    tcase_add_test(start, case_105_threads_as_the_cpus_allow);
    tcase_add_test(start, case_97_the_descriptor_limit_is_raised);
    TCase *command = harness_case(suite, "command", NULL, NULL);
    tcase_add_test(command, health_asks_the_running_server);
    tcase_add_test(command, check_tells_values_and_mistakes);
    tcase_add_test(command, words_that_are_no_commands);
    tcase_add_test(command, the_handover_is_not_for_people);
    return harness_run(suite);
}
