#include "process/sockets.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct settings settings_for(const char *host, int port, int threads)
{
    return (struct settings){.host = host, .port = port, .threads = threads};
}

static struct sockets open_or_fail(const struct settings *settings)
{
    struct sockets sockets;
    char *error = NULL;
    int result = sockets_open(&sockets, settings, &error);
    ck_assert_msg(result == 0, "%s", error);
    return sockets;
}

/* Expects a refusal that says all of these. */
static void refused(const struct settings *settings, int expected, const char *const words[])
{
    struct sockets sockets;
    char *error = NULL;
    ck_assert_int_eq(sockets_open(&sockets, settings, &error), expected);
    for (; *words != NULL; words++)
        ck_assert_msg(strstr(error, *words) != NULL, "'%s' is not in: %s", *words, error);
    ck_assert_uint_eq(sockets.count, 0);
    ck_assert_ptr_null(sockets.items);
    free(error);
}

static struct address address_of(const char *host, int port)
{
    struct address addresses[ADDRESSES_MAX];
    ck_assert_int_eq(addresses_find(host, port, addresses), 1);
    return addresses[0];
}

/* A socket of somebody else's, on a free port. */
static int foreign(const char *host, bool only_v6, bool reuse_port, int *ret_port)
{
    struct address address = address_of(host, 0);
    const int on = 1, only = only_v6;
    int fd = socket(address.socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    if (address.socket.any.sa_family == AF_INET6)
        ck_assert_int_eq(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only), 0);
    if (reuse_port)
        ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), 0);
    ck_assert_int_eq(bind(fd, &address.socket.any, address.len), 0);
    ck_assert_int_eq(listen(fd, 10), 0);
    ck_assert_int_eq(getsockname(fd, &address.socket.any, &address.len), 0);
    *ret_port = address_port(&address);
    return fd;
}

static bool has_ipv6(void)
{
    struct address address = address_everywhere_v6(0);
    address.socket.v6.sin6_addr = in6addr_loopback;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0 && bind(fd, &address.socket.any, address.len) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

static int connect_to(const char *host, int port)
{
    const struct address address = address_of(host, port);
    int fd = socket(address.socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, &address.socket.any, address.len) < 0) {
        close(fd);
        return -errno;
    }
    return fd;
}

START_TEST(a_group_of_sockets_shares_one_port)
{
    const struct settings settings = settings_for("127.0.0.1", 0, 4);
    struct sockets sockets = open_or_fail(&settings);
    int port = sockets_port(&sockets, LISTENER_PLAIN);
    ck_assert_uint_eq(sockets.count, 4);
    ck_assert_uint_eq(sockets.endpoint_count, 1);
    ck_assert_int_gt(port, 0);
    ck_assert_int_eq(sockets_port(&sockets, LISTENER_TLS), 0);
    for (unsigned i = 0; i < 4; i++) {
        struct address address = {.len = sizeof address.socket};
        ck_assert_uint_eq(sockets.items[i].loop, i);
        ck_assert_int_eq(sockets.items[i].kind, LISTENER_PLAIN);
        ck_assert_int_eq(getsockname(sockets.items[i].fd, &address.socket.any, &address.len), 0);
        ck_assert_int_eq(address_port(&address), port);
        ck_assert_int_eq(fcntl(sockets.items[i].fd, F_GETFD), FD_CLOEXEC);
        ck_assert(fcntl(sockets.items[i].fd, F_GETFL) & O_NONBLOCK);
    }
    sockets_close(&sockets);
    ck_assert_int_eq(connect_to("127.0.0.1", port), -ECONNREFUSED);
}
END_TEST

/* The first of the group got SO_REUSEPORT late; it must have its share all the same, and nothing may get
 * lost. */
START_TEST(every_socket_of_the_group_gets_connections)
{
    const struct settings settings = settings_for("127.0.0.1", 0, 3);
    struct sockets sockets = open_or_fail(&settings);
    int clients[150], accepted = 0;
    for (int i = 0; i < 150; i++) {
        clients[i] = connect_to("127.0.0.1", sockets_port(&sockets, LISTENER_PLAIN));
        ck_assert_int_ge(clients[i], 0);
    }
    for (size_t i = 0; i < sockets.count; i++) {
        int fd, before = accepted;
        while ((fd = accept(sockets.items[i].fd, NULL, NULL)) >= 0) {
            accepted++;
            close(fd);
        }
        ck_assert_int_gt(accepted, before);
    }
    ck_assert_int_eq(accepted, 150);
    for (int i = 0; i < 150; i++)
        close(clients[i]);
    sockets_close(&sockets);
}
END_TEST

START_TEST(case_98_a_second_instance_is_refused)
{
    struct settings settings = settings_for("127.0.0.1", 0, 2);
    struct sockets sockets = open_or_fail(&settings);
    char place[64], port[32];
    settings.port = sockets_port(&sockets, LISTENER_PLAIN);
    snprintf(place, sizeof place, "127.0.0.1:%d", settings.port);
    snprintf(port, sizeof port, "port %d is in use", settings.port);
    refused(&settings, -EADDRINUSE, (const char *const[]){place, port, "this server itself", NULL});
    settings.host = NULL;
    refused(&settings, -EADDRINUSE, (const char *const[]){port, NULL});
    sockets_close(&sockets);
}
END_TEST

/* SO_REUSEPORT on both sides is what lets two servers split the traffic. */
START_TEST(case_98_a_holder_that_would_share_is_refused)
{
    struct settings settings = settings_for("127.0.0.1", 0, 2);
    int fd = foreign("127.0.0.1", false, true, &settings.port);
    refused(&settings, -EADDRINUSE, (const char *const[]){"127.0.0.1", NULL});
    close(fd);
}
END_TEST

START_TEST(case_98_the_holder_is_named)
{
    struct settings settings = settings_for("127.0.0.1", 0, 1);
    int ready[2], port;
    char holder[64];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "some node");
        foreign("127.0.0.1", false, false, &port);
        if (write(ready[1], &port, sizeof port) == sizeof port)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &settings.port, sizeof settings.port), sizeof settings.port);
    snprintf(holder, sizeof holder, "in use by 'some node' (pid %d)", (int)pid);
    refused(&settings, -EADDRINUSE, (const char *const[]){holder, NULL});
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(case_98_ipv6_only_holder_is_noticed)
{
    struct settings settings = settings_for(NULL, 0, 2);
    if (!has_ipv6()) {
        puts("skipped: no IPv6 here");
        return;
    }
    int fd = foreign("::", true, false, &settings.port);
    refused(&settings, -EADDRINUSE, (const char *const[]){"[::]:", "this server itself", NULL});
    close(fd);
    fd = foreign("0.0.0.0", false, false, &settings.port);
    refused(&settings, -EADDRINUSE, (const char *const[]){"[::]:", "this server itself", NULL});
    close(fd);
    fd = foreign("127.0.0.1", false, false, &settings.port);
    refused(&settings, -EADDRINUSE, (const char *const[]){"[::]:", "this server itself", NULL});
    close(fd);
}
END_TEST

START_TEST(case_98_privileged_port)
{
    const struct settings settings = settings_for("127.0.0.1", 80, 1);
    FILE *file = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "r");
    int first = 1024;
    if (file != NULL) {
        ck_assert_int_eq(fscanf(file, "%d", &first), 1);
        fclose(file);
    }
    if (first <= 80 || (getuid() == 0 && setuid(65534) < 0)) {
        puts("skipped: port 80 is free for all, or this user cannot become another");
        return;
    }
    refused(&settings, -EACCES, (const char *const[]){"127.0.0.1:80", "privilege", NULL});
}
END_TEST

/* Connections of an earlier run must not keep a new one from starting. */
START_TEST(time_wait_is_not_in_the_way)
{
    struct settings settings = settings_for("127.0.0.1", 0, 2);
    struct sockets sockets = open_or_fail(&settings);
    int accepted = -1;
    settings.port = sockets_port(&sockets, LISTENER_PLAIN);
    int client = connect_to("127.0.0.1", settings.port);
    for (size_t i = 0; i < sockets.count && accepted < 0; i++)
        accepted = accept(sockets.items[i].fd, NULL, NULL);
    ck_assert_int_ge(accepted, 0);
    close(accepted); /* first: the server's side is the one that waits */
    close(client);
    sockets_close(&sockets);
    sockets = open_or_fail(&settings);
    ck_assert_int_eq(sockets_port(&sockets, LISTENER_PLAIN), settings.port);
    sockets_close(&sockets);
}
END_TEST

START_TEST(no_host_means_both_families)
{
    const struct settings settings = settings_for(NULL, 0, 1);
    struct sockets sockets = open_or_fail(&settings);
    int port = sockets_port(&sockets, LISTENER_PLAIN);
    ck_assert(address_is_everywhere(&sockets.endpoints[0].address));
    int fd = connect_to("127.0.0.1", port);
    ck_assert_int_ge(fd, 0);
    close(fd);
    if (has_ipv6()) {
        fd = connect_to("::1", port);
        ck_assert_int_ge(fd, 0);
        close(fd);
    }
    sockets_close(&sockets);
}
END_TEST

START_TEST(a_name_gets_one_port_at_all_its_addresses)
{
    const struct settings settings = settings_for("localhost", 0, 2);
    struct addrinfo *known;
    if (getaddrinfo("localhost", NULL, NULL, &known) != 0) {
        fprintf(stderr, "skipped: this machine does not know localhost\n");
        return;
    }
    freeaddrinfo(known);
    struct sockets sockets = open_or_fail(&settings);
    ck_assert_uint_ge(sockets.endpoint_count, 1);
    ck_assert_uint_eq(sockets.count, 2 * sockets.endpoint_count);
    for (size_t i = 1; i < sockets.endpoint_count; i++) {
        ck_assert_int_eq(address_port(&sockets.endpoints[i].address),
                         address_port(&sockets.endpoints[0].address));
        ck_assert(!address_equal(&sockets.endpoints[i].address, &sockets.endpoints[0].address));
    }
    sockets_close(&sockets);
}
END_TEST

START_TEST(ssl_has_ports_of_its_own)
{
    struct settings settings = settings_for("127.0.0.1", 0, 2);
    settings.ssl = true;
    struct sockets sockets = open_or_fail(&settings);
    ck_assert_uint_eq(sockets.count, 4);
    ck_assert_int_eq(sockets_port(&sockets, LISTENER_PLAIN), 0);
    ck_assert_int_gt(sockets_port(&sockets, LISTENER_TLS), 0);
    ck_assert_int_gt(sockets_port(&sockets, LISTENER_REDIRECT), 0);
    sockets_close(&sockets);
    settings.port = -1;
    sockets = open_or_fail(&settings);
    ck_assert_uint_eq(sockets.count, 2);
    ck_assert_int_eq(sockets_port(&sockets, LISTENER_REDIRECT), 0);
    sockets_close(&sockets);
}
END_TEST

START_TEST(one_port_for_both_is_refused)
{
    struct settings settings = settings_for("127.0.0.1", 0, 2);
    close(foreign("127.0.0.1", false, false, &settings.port));
    settings.ssl = true;
    settings.ssl_port = settings.port;
    refused(&settings, -EADDRINUSE, (const char *const[]){"this server itself", NULL});
}
END_TEST

START_TEST(addresses_that_are_not_ours)
{
    struct settings settings = settings_for("no such name", 0, 1);
    refused(&settings, -EADDRNOTAVAIL, (const char *const[]){"'no such name'", NULL});
    settings.host = "192.0.2.200"; /* RFC 5737: nobody has it */
    refused(&settings, -EADDRNOTAVAIL,
            (const char *const[]){"192.0.2.200", "does not have that address", NULL});
}
END_TEST

START_TEST(addresses_as_text)
{
    static const char *const cases[][3] = {{"127.0.0.1", "127.0.0.1", "127.0.0.1:8080"},
                                           {"::1", "[::1]", "[::1]:8080"},
                                           {"[::1]", "[::1]", "[::1]:8080"},
                                           {"0.0.0.0", "0.0.0.0", "0.0.0.0:8080"},
                                           {"", "[::]", "[::]:8080"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct address address = address_of(cases[i][0], 8080);
        char text[ADDRESS_TEXT_SIZE];
        address_text(&address, false, text);
        ck_assert_str_eq(text, cases[i][1]);
        address_text(&address, true, text);
        ck_assert_str_eq(text, cases[i][2]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sockets");
    TCase *tcase = tcase_create("sockets");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, a_group_of_sockets_shares_one_port);
    tcase_add_test(tcase, every_socket_of_the_group_gets_connections);
    tcase_add_test(tcase, case_98_a_second_instance_is_refused);
    tcase_add_test(tcase, case_98_a_holder_that_would_share_is_refused);
    tcase_add_test(tcase, case_98_the_holder_is_named);
    tcase_add_test(tcase, case_98_ipv6_only_holder_is_noticed);
    tcase_add_test(tcase, case_98_privileged_port);
    tcase_add_test(tcase, time_wait_is_not_in_the_way);
    tcase_add_test(tcase, no_host_means_both_families);
    tcase_add_test(tcase, a_name_gets_one_port_at_all_its_addresses);
    tcase_add_test(tcase, ssl_has_ports_of_its_own);
    tcase_add_test(tcase, one_port_for_both_is_refused);
    tcase_add_test(tcase, addresses_that_are_not_ours);
    tcase_add_test(tcase, addresses_as_text);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
