#include "process/handover.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listening_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(listen(fd, 1), 0);
    return fd;
}

static bool closes_on_exec(int fd)
{
    return fcntl(fd, F_GETFD) == FD_CLOEXEC;
}

START_TEST(text_and_back)
{
    const struct listener_socket listeners[] = {
        {.fd = 7, .loop = 0, .kind = LISTENER_TLS},
        {.fd = 8, .loop = 1, .kind = LISTENER_TLS},
        {.fd = 9, .loop = 0, .kind = LISTENER_REDIRECT},
        {.fd = 10, .loop = 11, .kind = LISTENER_PLAIN},
    };
    const struct inheritance given = {5, 6, 443, true, listeners, 4};
    struct inheritance found;
    char *text = handover_text(&given);
    ck_assert_str_eq(text,
                     "shm:5,supervisor:6,ssl_port:443,reload:1,tls:7/0,tls:8/1,redirect:9/0,plain:10/11");
    ck_assert_int_eq(handover_parse(text, &found), 0);
    ck_assert_int_eq(found.shm_fd, 5);
    ck_assert_int_eq(found.supervisor_fd, 6);
    ck_assert_int_eq(found.ssl_port, 443);
    ck_assert(found.reload);
    ck_assert_uint_eq(found.listener_count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(found.listeners[i].fd, listeners[i].fd);
        ck_assert_uint_eq(found.listeners[i].loop, listeners[i].loop);
        ck_assert_int_eq(found.listeners[i].kind, listeners[i].kind);
    }
    ck_assert_uint_eq(handover_loops(&found), 12);
    handover_finish(&found);
    free(text);
}
END_TEST

static const char *const bad_texts[] = {
    "",
    "1",
    "shm:5,supervisor:6,ssl_port:0,reload:0",
    "shm:5,supervisor:6,ssl_port:0,reload:0,",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:7/0,",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:7/0 ",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:7",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:7/",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:/0",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:-7/0",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:+7/0",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plain:07/0",
    "shm:5,supervisor:6,ssl_port:0,reload:0,plains:7/0",
    "shm:5,supervisor:6,ssl_port:0,reload:0,udp:7/0",
    "shm:5,supervisor:6,ssl_port:0;plain:7/0",
    "shm:5,supervisor:6,ssl_port:65536,reload:0,plain:7/0",
    "shm:5,supervisor:6,plain:7/0",
    "supervisor:6,shm:5,ssl_port:0,reload:0,plain:7/0",
    "shm:99999999999999999999,supervisor:6,ssl_port:0,reload:0,plain:7/0",
    " shm:5,supervisor:6,ssl_port:0,reload:0,plain:7/0",
};

START_TEST(anything_else_is_refused)
{
    struct inheritance found = {.shm_fd = 77};
    ck_assert_int_eq(handover_parse(bad_texts[_i], &found), -EINVAL);
    ck_assert_int_eq(found.shm_fd, 77);
}
END_TEST

START_TEST(no_variable_no_worker)
{
    struct inheritance found;
    unsetenv(HANDOVER_VARIABLE);
    ck_assert_int_eq(handover_take(&found), 0);
}
END_TEST

/* Neither functions nor what they start may see any of it. */
START_TEST(taken_once_and_hidden)
{
    int pair[2], listener = listening_socket(), shm = dup(STDERR_FILENO);
    struct inheritance found;
    char text[128];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    snprintf(text, sizeof text, "shm:%d,supervisor:%d,ssl_port:0,reload:0,plain:%d/0", shm, pair[0],
             listener);
    setenv(HANDOVER_VARIABLE, text, 1);
    ck_assert_int_eq(handover_take(&found), 1);
    ck_assert_ptr_null(getenv(HANDOVER_VARIABLE));
    ck_assert(closes_on_exec(shm) && closes_on_exec(pair[0]) && closes_on_exec(listener));
    ck_assert_int_eq(found.listeners[0].fd, listener);
    handover_finish(&found);
    ck_assert_int_eq(handover_take(&found), 0);
    close(shm);
    close(listener);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* Somebody set the variable by hand: no descriptor is trusted for its number alone. */
START_TEST(lies_are_refused)
{
    struct inheritance found;
    char text[128];
    int fd = socket(AF_INET, SOCK_STREAM, 0); /* does not listen */
    setenv(HANDOVER_VARIABLE, "nonsense", 1);
    ck_assert_int_eq(handover_take(&found), -EINVAL);
    ck_assert_ptr_null(getenv(HANDOVER_VARIABLE));
    snprintf(text, sizeof text, "shm:2,supervisor:2,ssl_port:0,reload:0,plain:%d/0", fd);
    setenv(HANDOVER_VARIABLE, text, 1);
    ck_assert_int_eq(handover_take(&found), -EBADF);
    setenv(HANDOVER_VARIABLE, "shm:2,supervisor:2,ssl_port:0,reload:0,plain:987654/0", 1);
    ck_assert_int_eq(handover_take(&found), -EBADF);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handover");
    TCase *tcase = tcase_create("handover");
    tcase_add_test(tcase, text_and_back);
    tcase_add_loop_test(tcase, anything_else_is_refused, 0, sizeof bad_texts / sizeof *bad_texts);
    tcase_add_test(tcase, no_variable_no_worker);
    tcase_add_test(tcase, taken_once_and_hidden);
    tcase_add_test(tcase, lies_are_refused);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
