#include "process/control.h"

#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char parent[] = "/tmp/control_test_XXXXXX";
static char folder[512]; /* longer than the path of a socket may be */
static struct control control;

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(parent));
    snprintf(folder, sizeof folder, "%s/%0200d", parent, 0);
    ck_assert_int_eq(control_open(&control, folder), 0);
}

static void teardown(void)
{
    char command[600];
    control_close(&control);
    snprintf(command, sizeof command, "rm -r %s", parent);
    ck_assert_int_eq(system(command), 0);
}

static void answer(void *arg, struct control_client *client)
{
    int *count = arg;
    ++*count;
    if (strcmp(client->word, "status") == 0)
        control_answer(client, "ok: well\n", true);
    else if (strcmp(client->word, "reload") != 0)
        control_answer(client, "failed: what?\n", true);
}

/* Serves until so many words have come. */
static void serve(int words)
{
    struct pollfd polls[CONTROL_POLLS];
    int count = 0;
    while (count < words) {
        control_polls(&control, polls);
        ck_assert_int_gt(poll(polls, CONTROL_POLLS, 5000), 0);
        control_take(&control, polls, answer, &count);
    }
}

static pid_t ask(const char *word)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(-control_ask(folder, word));
    return pid;
}

static int result_of(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(a_word_and_its_answer)
{
    pid_t good = ask("status"), bad = ask("dance");
    serve(2);
    ck_assert_int_eq(result_of(good), 0);
    ck_assert_int_eq(result_of(bad), EPROTO);
}
END_TEST

START_TEST(some_wait_for_their_answer)
{
    pid_t first = ask("reload"), second = ask("reload");
    serve(2);
    control_answer_all(&control, "stop", "ok\n");
    control_answer_all(&control, "reload", "ok: done\n");
    ck_assert_int_eq(result_of(first), 0);
    ck_assert_int_eq(result_of(second), 0);
}
END_TEST

START_TEST(the_end_is_an_answer_too)
{
    pid_t pid = ask("reload");
    serve(1);
    control_close(&control);
    ck_assert_int_eq(result_of(pid), EPROTO);
    ck_assert_int_eq(control_ask(folder, "status"), -ENOENT);
}
END_TEST

START_TEST(only_its_owner_may_reach_it)
{
    struct stat info;
    char path[600];
    ck_assert_int_eq(stat(folder, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s/control", folder);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
}
END_TEST

START_TEST(a_second_server_leaves_it_to_the_first)
{
    struct control second;
    ck_assert_int_eq(control_open(&second, folder), -EADDRINUSE);
    control_close(&second);
    pid_t pid = ask("status");
    serve(1);
    ck_assert_int_eq(result_of(pid), 0);
}
END_TEST

START_TEST(what_a_killed_server_left_is_replaced)
{
    struct control second;
    close(control.fd);
    control.fd = -1;
    ck_assert_int_eq(control_open(&second, folder), 0);
    control_close(&second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control");
    TCase *tests = tcase_create("control");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_word_and_its_answer);
    tcase_add_test(tests, some_wait_for_their_answer);
    tcase_add_test(tests, the_end_is_an_answer_too);
    tcase_add_test(tests, only_its_owner_may_reach_it);
    tcase_add_test(tests, a_second_server_leaves_it_to_the_first);
    tcase_add_test(tests, what_a_killed_server_left_is_replaced);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
