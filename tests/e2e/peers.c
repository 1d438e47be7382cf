#include "peers.h"

#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 500 /* pauses of 10 ms until one listens */
#define SILENCE 10   /* ms after which a peer is sent FIN */
#define LONG_SILENCE 300
#define HANG 40 /* seconds of silence after which a server counts as hung */

static const char nginx_config[] = "daemon off;\n"
                                   "master_process off;\n"
                                   "pid nginx.pid;\n"
                                   "error_log /dev/null;\n"
                                   "events { worker_connections 256; }\n"
                                   "http {\n"
                                   "    access_log off;\n"
                                   "    client_body_temp_path body;\n"
                                   "    proxy_temp_path proxy;\n"
                                   "    fastcgi_temp_path fastcgi;\n"
                                   "    uwsgi_temp_path uwsgi;\n"
                                   "    scgi_temp_path scgi;\n"
                                   /* so that the body is there when the head is read */
                                   "    client_header_buffer_size 32k;\n"
                                   "    default_type text/plain;\n"
                                   "    server {\n"
                                   "        listen unix:%s;\n"
                                   "        location / { return 200 other; }\n"
                                   "        location = /probe { return 200 '/probe ran'; }\n"
                                   "        location = /canary { return 200 '/canary ran'; }\n"
                                   "        location = /smuggled { return 200 '/smuggled ran'; }\n"
                                   "    }\n"
                                   "}\n";

static const char haproxy_config[] =
    "global\n"
    "    nbthread 1\n"
    "    maxconn 200\n"
    "defaults\n"
    "    mode http\n"
    "    timeout client 30s\n"
    "    timeout http-request 30s\n"
    "    timeout http-keep-alive 30s\n"
    "frontend peer\n"
    "    bind unix@%s\n"
    "    http-request wait-for-body time 30s\n"
    "    http-request return status 200 content-type text/plain "
    "lf-string \"%%[path] ran\" if { path /probe /canary /smuggled }\n"
    "    http-request return status 200 content-type text/plain string other\n";

/* ---- processes ---- */

static const char *find(const char *program)
{
    static const char *const folders[] = {"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = text_print("%s/%s", folders[i], program);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

static void become(const char *const argv[], const char *log)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int output = open(log, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
        close(fd);
    execv(argv[0], (char **)argv);
    perror(argv[0]);
    _exit(127);
}

static int reach(const struct peer *peer);

static struct peer *start(const struct folder *folder, const char *name, const char *const argv[])
{
    struct peer *peer = calloc(1, sizeof *peer);
    char *log = folder_path(folder, "log");
    ck_assert_ptr_nonnull(peer);
    peer->name = name;
    peer->path = folder_path(folder, "socket");
    peer->pid = fork();
    ck_assert_int_ge(peer->pid, 0);
    if (peer->pid == 0)
        become(argv, log);
    for (int i = 0; i < PATIENCE; i++) {
        int fd = reach(peer), status;
        if (fd >= 0) {
            close(fd);
            return peer;
        }
        if (waitpid(peer->pid, &status, WNOHANG) == peer->pid)
            ck_abort_msg("%s ended with status %d\n%s", name, status, folder_read(folder, "log", NULL));
        pause_ms(10);
    }
    kill(peer->pid, SIGKILL);
    ck_abort_msg("%s does not listen\n%s", name, folder_read(folder, "log", NULL));
}

struct peer *peer_start_nginx(void)
{
    const char *program = find("nginx");
    if (program == NULL)
        return NULL;
    struct folder *folder = folder_create();
    folder_print(folder, "nginx.conf", nginx_config, folder_path(folder, "socket"));
    return start(
        folder, "nginx",
        (const char *const[]){program, "-e", "stderr", "-p", folder->path, "-c", "nginx.conf", NULL});
}

struct peer *peer_start_haproxy(void)
{
    const char *program = find("haproxy");
    if (program == NULL)
        return NULL;
    struct folder *folder = folder_create();
    folder_print(folder, "haproxy.cfg", haproxy_config, folder_path(folder, "socket"));
    return start(folder, "haproxy",
                 (const char *const[]){program, "-db", "-q", "-f", folder_path(folder, "haproxy.cfg"), NULL});
}

void peer_stop(struct peer *peer)
{
    int status;
    if (peer == NULL || peer->pid == 0)
        return;
    kill(peer->pid, SIGKILL);
    waitpid(peer->pid, &status, 0);
}

/* ---- connections ---- */

static int reach_port(int port)
{
    /* Addresses of the client take turns, or the ports of connections that were closed would run out. */
    static unsigned turn;
    struct sockaddr_in from = {.sin_family = AF_INET},
                       to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + turn++ % 32);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
        connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static int reach_path(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_uint_lt(strlen(path), sizeof to.sun_path);
    strcpy(to.sun_path, path);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static int reach(const struct peer *peer)
{
    return peer->port != 0 ? reach_port(peer->port) : reach_path(peer->path);
}

/* The server may have closed already: what it said is to be read. */
static void send_bytes(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        len -= (size_t)sent;
    }
}

/* Whether bytes or the end come within that time. */
static bool is_readable(int fd, int ms)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    return poll(&readable, 1, ms) > 0;
}

static char *read_all(const struct peer *peer, int fd, int silence, size_t *ret_len)
{
    bool ended = false;
    size_t len = 0, capacity = 16384;
    char *bytes = malloc(capacity);
    for (;;) {
        ck_assert_ptr_nonnull(bytes);
        if (!ended && !is_readable(fd, silence)) {
            shutdown(fd, SHUT_WR);
            ended = true;
        }
        ssize_t got = recv(fd, bytes + len, capacity - len - 1, 0);
        ck_assert_msg(got >= 0 || errno != EAGAIN, "%s is silent after %zu bytes", peer->name, len);
        if (got <= 0)
            break;
        len += (size_t)got;
        if (capacity - len < 4096)
            bytes = realloc(bytes, capacity *= 2);
    }
    bytes[len] = '\0';
    *ret_len = len;
    return bytes;
}

/* ---- answers ---- */

/* The bytes of the answer at `text`, which ends at `end`. */
static size_t answer_size(const char *text, const char *end, bool is_head)
{
    const char *body = memmem(text, (size_t)(end - text), "\r\n\r\n", 4);
    if (body == NULL)
        return (size_t)(end - text);
    body += 4;
    char *head = strndup(text, (size_t)(body - text));
    const char *length = strcasestr(head, "\r\ncontent-length:");
    size_t len = length ? strtoul(length + 17, NULL, 10) : 0;
    free(head);
    /* A refusal of a head that was not understood may have a body all the same. */
    if (is_head && (body == end || strncmp(body, "HTTP/1.", 7) == 0))
        len = 0;
    return (size_t)(body - text) + (len < (size_t)(end - body) ? len : (size_t)(end - body));
}

static bool refuses(int status)
{
    return status >= 300 && status != 404 && status != 405;
}

static enum verdict judge(const struct outcome *outcome, bool canary, bool smuggled)
{
    if (smuggled)
        return SMUGGLE;
    if (outcome->count == 0)
        return SILENT;
    if (outcome->count > 2)
        return UNEXPECTED;
    if (refuses(outcome->statuses[0]))
        return canary ? CARRIED_ON : outcome->count == 1 ? REFUSED : UNEXPECTED;
    return canary ? TAKEN : ALONE;
}

static struct outcome understand(const char *text, size_t len, bool is_head)
{
    struct outcome outcome = {.body = -1};
    const char *end = text + len;
    bool canary = false, smuggled = false;
    for (size_t size; text < end; text += size) {
        bool has_head = strncmp(text, "HTTP/1.", 7) == 0;
        int status = has_head ? atoi(text + 9) : 9;
        size = has_head ? answer_size(text, end, is_head && outcome.count == 0) : (size_t)(end - text);
        const char *ran = memmem(text, size, " ran", 4);
        if (status == 100)
            continue;
        if (outcome.count < OUTCOME_MAX)
            outcome.statuses[outcome.count] = status;
        outcome.count++;
        canary |= ran != NULL && memmem(text, size, "/canary ran", 11) != NULL;
        smuggled |= ran != NULL && memmem(text, size, "/smuggled ran", 13) != NULL;
        if (ran != NULL && ran[4] == ' ' && memmem(text, size, "/probe ran", 10) != NULL)
            outcome.body = strtol(ran + 5, NULL, 10);
    }
    outcome.verdict = judge(&outcome, canary, smuggled);
    return outcome;
}

static struct outcome ask(const struct peer *peer, const struct mutation *mutation, size_t split, int silence)
{
    struct timeval patience = {.tv_sec = HANG};
    size_t len;
    int fd = reach(peer);
    ck_assert_msg(fd >= 0, "%s: connect: %s", peer->name, strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (split > 0 && split < mutation->len) {
        send_bytes(fd, mutation->bytes, split);
        nanosleep(&(struct timespec){0, 50 * 1000}, NULL);
        send_bytes(fd, mutation->bytes + split, mutation->len - split);
    } else {
        send_bytes(fd, mutation->bytes, mutation->len);
    }
    char *text = read_all(peer, fd, silence, &len);
    close(fd);
    struct outcome outcome = understand(text, len, mutation->is_head);
    free(text);
    return outcome;
}

struct outcome peer_ask(const struct peer *peer, const struct mutation *mutation, size_t split)
{
    return ask(peer, mutation, split, peer->port != 0 ? 0 : SILENCE);
}

struct outcome peer_ask_patiently(const struct peer *peer, const struct mutation *mutation)
{
    return ask(peer, mutation, 0, LONG_SILENCE);
}
