/* The supervisor with a stand-in for its worker: it executes this very program again, which then plays one.
 */
#include "process/supervisor.h"

#include "process/signals.h"
#include "stand_in.h"
#include "suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char starts_file[] = "/tmp/supervisor_test_XXXXXX";

struct running {
    pid_t pid;
    FILE *output; /* its stdout */
    FILE *log;    /* its stderr */
    int port;
};

static struct settings default_settings(void)
{
    return (struct settings){
        .root = "/srv/app",
        .host = "127.0.0.1",
        .threads = 2,
        .shm_size = 1 << 20,
        .start_timeout = 60000,
        .stop_timeout = 60000,
    };
}

static void run_supervisor(const char *role, const struct settings *settings, int output, int log)
{
    char *const argv[] = {"cloudgate", (char *)role, starts_file, NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(output);
    close(log);
    signals_init();
    _exit(supervisor_run(argv, settings));
}

/* With pid_1, in a namespace of its own, of which it is the init. */
static struct running start(const char *role, const struct settings *settings, bool pid_1)
{
    struct running running = {.port = 0};
    int output[2], log[2];
    close(mkstemp(starts_file));
    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(log, O_CLOEXEC), 0);
    running.pid = pid_1 ? (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL) : fork();
    ck_assert_int_ge(running.pid, 0);
    if (running.pid == 0)
        run_supervisor(role, settings, output[1], log[1]);
    close(output[1]);
    close(log[1]);
    running.output = fdopen(output[0], "r");
    running.log = fdopen(log[0], "r");
    return running;
}

/* Reads up to the line that holds the word, and gives it; fails at the end. */
static char *expect(FILE *file, const char *word)
{
    static char line[4096];
    while (fgets(line, sizeof line, file) != NULL) {
        if (strstr(line, word) != NULL)
            return line;
    }
    ck_abort_msg("no line says '%s'", word);
}

static void expect_listening(struct running *running)
{
    const char *line = expect(running->output, "Listening on http://127.0.0.1:");
    running->port = atoi(strrchr(line, ':') + 1);
    ck_assert_int_gt(running->port, 0);
}

static struct running start_good(const char *role)
{
    const struct settings settings = default_settings();
    struct running running = start(role, &settings, false);
    expect_listening(&running);
    return running;
}

static int finish(struct running *running)
{
    int status;
    ck_assert_int_eq(waitpid(running->pid, &status, 0), running->pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    fclose(running->output);
    fclose(running->log);
    unlink(starts_file);
    return WEXITSTATUS(status);
}

/* The pid of the worker that answers; a connection waits in the queue of the sockets until there is one. */
static pid_t ask(const struct running *running)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)running->port)};
    char text[32] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_gt(recv(fd, text, sizeof text - 1, MSG_WAITALL), 0);
    close(fd);
    return atoi(text);
}

static long starts(void)
{
    int fd = open(starts_file, O_RDONLY);
    off_t size = lseek(fd, 0, SEEK_END);
    close(fd);
    return (long)size;
}

START_TEST(says_what_it_serves_once_it_does)
{
    const struct settings settings = default_settings();
    struct running running = start("good", &settings, false);
    expect(running.output, "cloudgate " CLOUDGATE_VERSION);
    expect(running.output, "/srv/app");
    expect(running.output, "threads  2");
    expect(running.output, "1 file, 2 functions");
    expect_listening(&running);
    ck_assert_int_ne(ask(&running), running.pid);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(int_stops_as_term_does)
{
    struct running running = start_good("good");
    kill(running.pid, SIGINT);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(a_killed_worker_is_replaced)
{
    struct running running = start_good("good");
    pid_t first = ask(&running), second;
    kill(first, SIGKILL);
    expect(running.log, "killed by signal 9");
    second = ask(&running); /* the sockets queue meanwhile */
    ck_assert_int_ne(first, second);
    ck_assert_int_eq(starts(), 2);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

static int expect_back_off(struct running *running)
{
    const char *line = expect(running->log, "exit status 3 before it was ready; starting another one in ");
    return atoi(strrchr(line, 'n') + 1);
}

START_TEST(workers_that_do_not_get_ready_wait_longer_and_longer)
{
    struct running running = start_good("flaky");
    kill(ask(&running), SIGKILL);
    expect(running.log, "killed by signal 9");
    int first = expect_back_off(&running), second = expect_back_off(&running);
    ck_assert_int_ge(first, 100);
    ck_assert_int_eq(second, 2 * first);
    expect(running.log, "is ready: 1 file, 2 functions");
    ask(&running);
    ck_assert_int_eq(starts(), 4);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(a_stop_need_not_wait_for_the_next_worker)
{
    struct running running = start_good("flaky");
    kill(ask(&running), SIGKILL);
    expect_back_off(&running);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(a_first_worker_that_fails_is_the_end)
{
    const struct settings settings = default_settings();
    struct running running = start("fails", &settings, false);
    expect(running.log, "cannot start: no \\x1b[1mluck");
    ck_assert_ptr_null(fgets((char[16]){0}, 16, running.output)); /* it never listened */
    ck_assert_int_eq(finish(&running), 1);
}
END_TEST

START_TEST(a_first_worker_that_dies_is_the_end)
{
    const struct settings settings = default_settings();
    struct running running = start("dies", &settings, false);
    expect(running.log, "exit status 3 before it was ready");
    ck_assert_int_eq(finish(&running), 1);
}
END_TEST

START_TEST(a_worker_that_never_gets_ready_can_be_stopped)
{
    const struct settings settings = default_settings();
    struct running running = start("hangs", &settings, false);
    while (starts() == 0)
        sched_yield();
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(a_second_term_stops_at_once)
{
    struct running running = start_good("stubborn");
    kill(running.pid, SIGTERM);
    expect(running.log, "stopping");
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(a_worker_that_does_not_stop_is_ended)
{
    struct settings settings = default_settings();
    settings.stop_timeout = 50;
    struct running running = start("stubborn", &settings, false);
    expect_listening(&running);
    kill(running.pid, SIGTERM);
    expect(running.log, "not done within the stop timeout");
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(other_signals_do_nothing)
{
    static const int signals[] = {SIGUSR1, SIGPIPE};
    struct running running = start_good("good");
    pid_t worker = ask(&running);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        kill(running.pid, signals[i]);
        kill(worker, signals[i]);
    }
    expect(running.log, "USR1");
    kill(worker, SIGHUP);
    kill(worker, SIGTERM); /* service managers signal all processes, but it is the supervisor's to decide */
    kill(worker, SIGINT);
    ck_assert_int_eq(ask(&running), worker);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(hup_puts_a_new_worker_in_the_place_of_the_old)
{
    struct running running = start_good("good");
    pid_t before = ask(&running);
    for (int i = 0; i < 5; i++) {
        kill(running.pid, SIGHUP);
        expect(running.log, "reload: HUP");
        expect(running.log, "is ready");
        pid_t after = ask(&running);
        while (after == before) /* the old one may still take what was in its queue */
            after = ask(&running);
        before = after;
    }
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(a_new_worker_that_fails_harms_nobody)
{
    struct running running = start_good("fails later");
    pid_t worker = ask(&running);
    kill(running.pid, SIGHUP);
    expect(running.log, "the old one goes on");
    ck_assert_int_eq(ask(&running), worker);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

/* cloudgate | head -1 */
START_TEST(case_99_nobody_reads_its_output)
{
    const struct settings settings = default_settings();
    struct running running = start("good", &settings, false);
    fclose(running.output);
    running.output = fopen("/dev/null", "r");
    while (starts() == 0)
        sched_yield();
    kill(running.pid, SIGHUP);
    expect(running.log, "HUP");
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

START_TEST(the_worker_ends_with_its_supervisor)
{
    struct running running = start_good("good");
    pid_t worker = ask(&running);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(running.pid, SIGKILL);
    ck_assert_int_eq(waitpid(running.pid, NULL, 0), running.pid);
    int status;
    ck_assert_int_eq(waitpid(worker, &status, 0), worker);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    unlink(starts_file);
}
END_TEST

START_TEST(case_98_the_port_is_taken)
{
    struct running first = start_good("good");
    struct settings settings = default_settings();
    char words[64];
    settings.port = first.port;
    snprintf(words, sizeof words, "127.0.0.1:%d: port %d is in use by '", first.port, first.port);
    char remembered[sizeof starts_file];
    strcpy(remembered, starts_file);
    strcpy(starts_file, "/tmp/supervisor_test_XXXXXX");
    struct running second = start("good", &settings, false);
    expect(second.log, words);
    ck_assert_int_eq(finish(&second), 1);
    strcpy(starts_file, remembered);
    ask(&first);
    kill(first.pid, SIGTERM);
    ck_assert_int_eq(finish(&first), 0);
}
END_TEST

/* A file system of 1 MB for a segment of 8. */
START_TEST(case_103_no_room_for_the_segment)
{
    struct settings settings = default_settings();
    char folder[] = "/tmp/supervisor_test_XXXXXX", file[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", folder, "tmpfs", 0, "size=1m") < 0) {
        puts("skipped: mounting is not permitted");
        rmdir(folder);
        return;
    }
    snprintf(file, sizeof file, "%s/segment", folder);
    settings.shm_file = file;
    settings.shm_size = 8 << 20;
    struct running running = start("good", &settings, false);
    const char *line = expect(running.log, "cannot make the shared memory (SHM_SIZE is 8388608 bytes");
    ck_assert_ptr_nonnull(strstr(line, file));
    ck_assert_int_eq(finish(&running), 1);
    umount2(folder, MNT_DETACH);
    rmdir(folder);
}
END_TEST

START_TEST(case_97_the_descriptor_limit_is_raised)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 64;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    struct running running = start_good("good");
    ck_assert_int_eq(prlimit(ask(&running), RLIMIT_NOFILE, NULL, &limit), 0);
    ck_assert_uint_eq(limit.rlim_cur, limit.rlim_max);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

/* What a strange parent leaves behind: CHLD ignored would hide the end of workers, TERM blocked would hide
 * the stop. */
START_TEST(inherited_dispositions_do_not_matter)
{
    sigset_t all;
    signal(SIGCHLD, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    struct running running = start_good("good");
    signal(SIGCHLD, SIG_DFL);
    kill(ask(&running), SIGKILL);
    ask(&running);
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

static long count_children(pid_t pid)
{
    char path[64], text[256] = "";
    long count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(read(fd, text, sizeof text - 1), 0);
    close(fd);
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ' ';
    return count;
}

START_TEST(as_pid_1_it_reaps_orphans_and_stops)
{
    const struct settings settings = default_settings();
    pid_t probe = fork();
    if (probe == 0)
        _exit(unshare(CLONE_NEWPID) == 0 ? 0 : 1);
    int status;
    waitpid(probe, &status, 0);
    if (status != 0) {
        puts("skipped: pid namespaces are not permitted");
        return;
    }
    struct running running = start("orphans", &settings, true);
    expect_listening(&running);
    while (count_children(running.pid) != 1)
        sched_yield();
    kill(running.pid, SIGTERM);
    ck_assert_int_eq(finish(&running), 0);
}
END_TEST

static TCase *make_case(void)
{
    TCase *tcase = tcase_create("supervisor");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, says_what_it_serves_once_it_does);
    tcase_add_test(tcase, int_stops_as_term_does);
    tcase_add_test(tcase, a_killed_worker_is_replaced);
    tcase_add_test(tcase, workers_that_do_not_get_ready_wait_longer_and_longer);
    tcase_add_test(tcase, a_stop_need_not_wait_for_the_next_worker);
    tcase_add_test(tcase, a_first_worker_that_fails_is_the_end);
    tcase_add_test(tcase, a_first_worker_that_dies_is_the_end);
    tcase_add_test(tcase, a_worker_that_never_gets_ready_can_be_stopped);
    tcase_add_test(tcase, a_second_term_stops_at_once);
    tcase_add_test(tcase, a_worker_that_does_not_stop_is_ended);
    tcase_add_test(tcase, other_signals_do_nothing);
    tcase_add_test(tcase, hup_puts_a_new_worker_in_the_place_of_the_old);
    tcase_add_test(tcase, a_new_worker_that_fails_harms_nobody);
    tcase_add_test(tcase, case_99_nobody_reads_its_output);
    tcase_add_test(tcase, the_worker_ends_with_its_supervisor);
    tcase_add_test(tcase, case_98_the_port_is_taken);
    tcase_add_test(tcase, case_103_no_room_for_the_segment);
    tcase_add_test(tcase, case_97_the_descriptor_limit_is_raised);
    tcase_add_test(tcase, inherited_dispositions_do_not_matter);
    tcase_add_test(tcase, as_pid_1_it_reaps_orphans_and_stops);
    return tcase;
}

int main(int argc, char *argv[])
{
    struct inheritance inheritance;
    int inherited = handover_take(&inheritance);
    if (inherited == 1 && argc == 3) {
        signals_leave_to_supervisor();
        signals_init();
        _exit(play_worker(argv, &inheritance));
    }
    Suite *suite = suite_create("supervisor");
    suite_add_tcase(suite, make_case());
    return suite_end(suite);
}
