/* The bytes of an HTTP/2 connection behind the client's magic; the first byte says where they are cut. */
#include "http/http2.h"

#include "http/app.h"
#include "http/files.h"
#include "tests/fuzz/fuzz.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static struct loop *the_loop(void)
{
    static struct settings settings = {.header_limit = 4096, .body_limit = 4096};
    static struct app app = {.settings = &settings};
    static struct loop loop;
    const struct static_options options = {.dir = "/nonexistent"};
    struct static_table *table;
    char *error = NULL;
    if (loop.h2o != NULL)
        return &loop;
    settings.header_timeout = settings.idle_timeout = settings.body_timeout = settings.write_timeout = 1000;
    app.router = router_create(&settings, &app.modules);
    require(static_table_load(&options, NULL, &table, &error) == 0);
    require(loop_init(&loop, 0, &app) == 0);
    files_begin(&loop, table);
    return &loop;
}

static void feed(struct transport *transport, const char *data, size_t len)
{
    char *copy = exact_copy(data, len);
    transport_deliver(transport, copy, len);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct loop *loop = the_loop();
    struct sockaddr_in peer = {.sin_family = AF_INET};
    const char *bytes = (const char *)data + 1;
    int pair[2];
    if (size == 0)
        return 0;
    size_t len = size - 1, cut = len > 0 ? data[0] % len : 0;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    struct transport *transport = transport_create(loop, pair[0], (struct sockaddr *)&peer);
    transport->in_turn = true; /* it ends with the abort below, which frees */
    http2_start(transport);
    feed(transport, MAGIC, sizeof MAGIC - 1);
    feed(transport, bytes, cut);
    feed(transport, bytes + cut, len - cut);
    transport_deliver_end(transport);
    transport->in_turn = false;
    transport_abort(transport);
    require(loop->transport_count == 0);
    close(pair[1]);
    h2o_evloop_run(loop->h2o, 0); /* lets it free the socket */
    return 0;
}
