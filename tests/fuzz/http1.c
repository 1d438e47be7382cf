/* A whole HTTP/1 connection over a socket pair, in a time of its own. The input is what the client sends;
   0xff and a letter is what it does besides: 'f' waits for the server, 'h' half-closes, 'c' closes, 'R' reads
   all, 'r' and a byte reads some, 't' and a byte lets time pass, 'd' asks the server to drain. */
#include "http/http1.h"

#include "app/context.h"
#include "base/log.h"
#include "http/app.h"
#include "http/files.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE_SIZE 300000 /* more than the sockets and the server keep */
#define SMALL_ROOM 4096   /* of the server's socket, so that it is often full */
#define LAST_SECONDS 300  /* after which no connection may be left */

struct client {
    struct loop *loop;
    int fd;     /* -1: closed */
    size_t got; /* bytes of answers */
};

/* ---- the app ---- */

static void echo(cg_event *event)
{
    for (size_t i = 0; i < event->headers.count; i++)
        cg_print(event, "%s: %s\n", event->headers.items[i].name.ptr, event->headers.items[i].value.ptr);
    for (size_t i = 0; i < event->query_params.count; i++)
        require_terminated(event->query_params.items[i].value);
    for (size_t i = 0; i < event->form.count; i++)
        require_terminated(event->form.items[i].value);
    for (size_t i = 0; i < event->files.count; i++)
        cg_write(event, event->files.items[i].data.ptr, event->files.items[i].data.len);
    cg_write(event, event->body.ptr, event->body.len);
}

static void large(cg_event *event)
{
    static char text[LARGE_SIZE];
    cg_write(event, text, sizeof text);
}

/* A piece that begins with '!' is refused. */
static int take(cg_event *event, const char *data, size_t len)
{
    size_t *sum = event->data ? event->data : (event->data = cg_alloc(event, sizeof *sum));
    char *copy = exact_copy(data, len);
    int refusal = len > 0 && copy[0] == '!' ? 413 : 0;
    *sum += len;
    free(copy);
    return refusal;
}

static void tell(cg_event *event)
{
    const size_t *sum = event->data;
    require(event->body.len == 0);
    cg_print(event, "%zu", sum ? *sum : 0);
}

static struct module modules[] = {
    {.name = "echo", .file = "echo.so", .hooks = {.handle = echo}},
    {.name = "large", .file = "large.so", .hooks = {.get = large}},
    {.name = "stream", .file = "stream.so", .hooks = {.body = take, .handle = tell}},
};

static void add_file(const char *path, size_t len)
{
    static char content[LARGE_SIZE];
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    require(write(fd, content, len) == (ssize_t)len);
    close(fd);
}

static char folder[] = "/tmp/fuzz-http1.XXXXXX", paths[4][64];

static void remove_files(void)
{
    for (size_t i = 0; i < 4; i++)
        unlink(paths[i]);
    rmdir(folder);
}

/* The last one has no place in the table's memory: it is sent from disk. */
static struct static_table *load_files(void)
{
    static const char *const names[] = {"index.html", "404.html", "a.bin", "large.bin"};
    const struct static_options options = {.dir = folder, .memory = LARGE_SIZE + 100};
    struct static_table *table;
    char *error = NULL;
    require(mkdtemp(folder) != NULL && atexit(remove_files) == 0);
    for (size_t i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
        add_file(paths[i], i < 2 ? 10 : LARGE_SIZE);
    }
    require(static_table_load(&options, NULL, &table, &error) == 0);
    return table;
}

static struct loop *the_loop(void)
{
    static struct settings settings = {.header_limit = 4096,
                                       .body_limit = 4096,
                                       .body_memory = 1024,
                                       .temp_dir = "/tmp",
                                       .auto_mount = true,
                                       .header_timeout = 10000,
                                       .idle_timeout = 60000,
                                       .body_timeout = 10000,
                                       .body_min_rate = 1000,
                                       .write_timeout = 30000,
                                       .write_min_rate = 1000,
                                       .min_rate_after = 10000};
    static struct module *items[] = {&modules[0], &modules[1], &modules[2]};
    static struct app app = {.settings = &settings, .modules = {items, 3}};
    static struct loop loop;
    if (loop.h2o != NULL)
        return &loop;
    log_set_level(CG_ERROR);
    signal(SIGPIPE, SIG_IGN); /* as in the server */
    context.settings = &settings;
    app.router = router_create(&settings, &app.modules);
    require(loop_init(&loop, 0, &app) == 0);
    files_begin(&loop, load_files());
    loop.awake = true; /* now is ours */
    return &loop;
}

/* ---- the client ---- */

static void serve(struct client *client)
{
    for (int i = 0; i < 3; i++)
        h2o_evloop_run(client->loop->h2o, 0);
}

static void pass(struct client *client, int64_t ms)
{
    client->loop->now += ms;
    timers_run(&client->loop->timers, client->loop->now);
    serve(client);
}

/* Whatever was sent, what comes back is HTTP. */
static void look(struct client *client, const char *data, size_t len)
{
    static const char start[] = "HTTP/1.1 ";
    for (size_t i = 0; i < len && client->got + i < sizeof start - 1; i++)
        require(data[i] == start[client->got + i]);
    client->got += len;
}

static void receive(struct client *client, size_t most)
{
    static char buffer[65536];
    ssize_t got;
    while (client->fd >= 0 && most > 0 &&
           (got = recv(client->fd, buffer, most < sizeof buffer ? most : sizeof buffer, 0)) > 0) {
        look(client, buffer, (size_t)got);
        most -= (size_t)got;
        serve(client);
    }
}

/* What the server does not take, though it had its turn, is not sent. */
static void transmit(struct client *client, const char *data, size_t len)
{
    for (int i = 0; len > 0 && client->fd >= 0 && i < 2; i++) {
        ssize_t sent = send(client->fd, data, len, MSG_NOSIGNAL);
        data += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
        serve(client);
    }
}

static void leave(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    serve(client);
}

static void act(struct client *client, char what, uint8_t number)
{
    if (what == 'f')
        serve(client);
    else if (what == 'h' && client->fd >= 0)
        shutdown(client->fd, SHUT_WR);
    else if (what == 'c')
        leave(client);
    else if (what == 'R')
        receive(client, SIZE_MAX);
    else if (what == 'r')
        receive(client, 64u * number);
    else if (what == 't')
        pass(client, 200 * number);
    else if (what == 'd')
        list_for_each (link, &client->loop->transports)
            transport_drain(list_item(link, struct transport, link));
}

static void play(struct client *client, const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    while (data < end) {
        const uint8_t *mark = memchr(data, 0xff, (size_t)(end - data));
        size_t len = (size_t)((mark ? mark : end) - data);
        transmit(client, (const char *)data, len);
        data += len;
        if (end - data < 2)
            return;
        bool counted = data[1] == 'r' || data[1] == 't';
        act(client, (char)data[1], counted && end - data > 2 ? data[2] : 0);
        data += counted && end - data > 2 ? 3 : 2;
    }
}

static void begin(struct client *client, int fd, bool redirect)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET};
    const int room = SMALL_ROOM;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    struct transport *transport = transport_create(client->loop, fd, (const struct sockaddr *)&peer);
    if (redirect)
        http1_start_redirect(transport);
    else
        http1_start(transport);
    transport_start(transport);
}

/* The first byte says what the connection is for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client client = {.loop = the_loop()};
    int pair[2];
    if (size == 0)
        return 0;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    client.fd = pair[1];
    begin(&client, pair[0], data[0] == 'r');
    play(&client, data + 1, size - 1);
    receive(&client, SIZE_MAX);
    leave(&client);
    for (int i = 0; i < LAST_SECONDS && client.loop->transport_count > 0; i++)
        pass(&client, 1000);
    require(client.loop->transport_count == 0);
    return 0;
}
