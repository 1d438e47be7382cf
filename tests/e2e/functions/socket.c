/* WebSockets. /ws/echo and the like say back what they hear, but for text that begins with '/':
   /close CODE REASON · /big N · /bad · /id · /topic NAME · /leave NAME · /tell NAME TEXT · /send ID TEXT ·
   /end ID · /arena · /wrong · /event. In the query: name, under which GET tells how it ended; refuse=STATUS;
   reply, mute and status=N for .upgrade; hello, for what .open says; flood=N, for messages of 1000 bytes that
   it sends at once. */
#include <cloudgate.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static cg_counter *opened, *closed, *drained;

static int init(void)
{
    opened = cg_counter_open("socket/opened");
    closed = cg_counter_open("socket/closed");
    drained = cg_counter_open("socket/drained");
    return opened && closed && drained ? 0 : -1;
}

/* "CODE REASON" of the one with that name, or the counters. */
static void tell(cg_event *event)
{
    const char *name = cg_query(event, "closed");
    cg_str ended = name ? cg_shm_get(event, "socket/closed", name) : cg_bytes(NULL, 0);
    if (name == NULL)
        cg_reply(event, 200, "text/plain", "%lld %lld %lld", (long long)cg_counter_get(opened),
                 (long long)cg_counter_get(closed), (long long)cg_counter_get(drained));
    else
        cg_reply(event, 200, "text/plain", "%s", ended.ptr ? ended.ptr : "none");
}

static int upgrade(cg_event *event)
{
    int64_t status = 0;
    event->data =
        cg_sprintf(event, "data of %s", cg_query(event, "name") ? cg_query(event, "name") : "nobody");
    cg_set_header(event, "Sec-WebSocket-Accept", "mine");
    cg_set_cookie(event, "seen", "1", "Path=/");
    if (cg_query(event, "fault"))
        cg_set_header(event, "bad name", "x");
    if (cg_query(event, "reply"))
        cg_reply(event, 401, "text/plain", "who are you?\n");
    if (cg_parse_int(cg_query(event, "refuse"), -1, 1000, &status) != 0)
        status = 0;
    return (int)status;
}

static void say(cg_ws *ws, const char *text)
{
    if (cg_ws_send(ws, text, strlen(text), CG_TEXT) < 0)
        cg_log(NULL, CG_DEBUG, "a message was not taken");
}

/* What of the handshake is there still. */
static void describe(cg_ws *ws)
{
    const cg_event *event = cg_ws_event(ws);
    char text[512];
    snprintf(text, sizeof text, "%s %s?%s %s %s %s %s %s", event->method.ptr, event->path.ptr,
             event->query.ptr, event->ip.ptr, cg_header(event, "X-Test"), cg_cookie(event, "c"),
             event->route.ptr, (char *)event->data);
    say(ws, text);
}

static void flood(cg_ws *ws, int64_t count)
{
    char piece[1000];
    memset(piece, 'f', sizeof piece);
    while (count-- > 0)
        if (cg_ws_send(ws, piece, sizeof piece, CG_BINARY) < 0)
            break;
}

static void open_hook(cg_ws *ws)
{
    int64_t count;
    cg_counter_add(opened, 1);
    if (cg_query(cg_ws_event(ws), "hello"))
        describe(ws);
    if (cg_parse_int(cg_query(cg_ws_event(ws), "flood"), 0, 1000000, &count) == 0)
        flood(ws, count);
}

/* What the event of a WebSocket is not for. */
static void wrong(cg_ws *ws)
{
    cg_event *event = (cg_event *)cg_ws_event(ws);
    cg_defer(event);
    cg_stream(event);
    cg_on_close(event, tell);
    cg_on_drain(event, tell);
    cg_reply(event, 200, "text/plain", "nobody hears this");
    cg_write(event, "nor this", 8);
    if (cg_flush(event) != -EINVAL || cg_subscribe(event, "x") != -EINVAL || !cg_gone(event) ||
        cg_json(event))
        say(ws, "not refused");
    cg_finish(event);
    cg_ws_close(ws, 1005, "not for sending");
}

static void command(cg_ws *ws, const char *text)
{
    char word[16] = "", rest[256] = "";
    uint64_t id = 0;
    int used = 0;
    sscanf(text, "/%15s %n", word, &used);
    snprintf(rest, sizeof rest, "%s", text + used);
    if (strcmp(word, "close") == 0) {
        char *reason;
        int code = (int)strtol(rest, &reason, 10);
        cg_ws_close(ws, code, *reason ? reason + 1 : NULL);
        say(ws, "too late");
        cg_ws_close(ws, 1011, "again");
    } else if (strcmp(word, "bad") == 0) {
        say(ws, cg_ws_send(ws, "\xed\xa0\x80", 3, CG_TEXT) == -EILSEQ &&
                        cg_publish("x", "\xff", 1, CG_TEXT) == -EILSEQ
                    ? "refused"
                    : "taken");
    } else if (strcmp(word, "big") == 0) {
        size_t size = strtoul(rest, NULL, 10);
        char *data = malloc(size + 1);
        memset(data, 'b', size);
        if (cg_ws_send(ws, data, size, CG_TEXT) < 0)
            say(ws, "refused");
        free(data);
    } else if (strcmp(word, "id") == 0) {
        snprintf(rest, sizeof rest, "%" PRIu64, cg_ws_id(ws));
        say(ws, rest);
    } else if (strcmp(word, "topic") == 0) {
        say(ws, cg_subscribe(ws, rest) == 0 ? "subscribed" : "not subscribed");
    } else if (strcmp(word, "leave") == 0) {
        say(ws, cg_unsubscribe(ws, rest) == 0 ? "left" : "not left");
    } else if (strcmp(word, "tell") == 0) {
        char *said = strchr(rest, ' ');
        if (said != NULL)
            *said++ = '\0';
        if (cg_publish(rest, said ? said : "", said ? strlen(said) : 0, CG_TEXT) != 0)
            say(ws, "not published");
    } else if (sscanf(text, "/send %" SCNu64 " %15s", &id, word) == 2) {
        if (cg_ws_send_id(id, text + 6, strlen(text + 6), CG_TEXT) < 0)
            say(ws, "gone");
    } else if (sscanf(text, "/end %" SCNu64, &id) == 1) {
        say(ws, cg_ws_close_id(id, 4001, "ended by another") < 0 ? "gone" : "ended");
    } else if (strcmp(word, "arena") == 0) {
        cg_event *event = (cg_event *)cg_ws_event(ws);
        size_t sum = 0;
        for (int i = 0; i < 100; i++)
            sum += strlen(cg_sprintf(event, "%0100d", i));
        say(ws, cg_sprintf(event, "%zu", sum));
    } else if (strcmp(word, "wrong") == 0) {
        wrong(ws);
    } else if (strcmp(word, "event") == 0) {
        describe(ws);
    }
}

static void message(cg_ws *ws, const cg_message *message)
{
    if (message->kind == CG_TEXT && message->data.len > 0 && message->data.ptr[0] == '/')
        command(ws, message->data.ptr);
    else if (cg_ws_send(ws, message->data.ptr, message->data.len, message->kind) < 0)
        cg_log(NULL, CG_DEBUG, "an echo was not taken");
}

static void drain(cg_ws *ws)
{
    (void)ws;
    cg_counter_add(drained, 1);
}

static void close_hook(cg_ws *ws, int code, cg_str reason)
{
    char text[256];
    const char *name = cg_query(cg_ws_event(ws), "name");
    int len = snprintf(text, sizeof text, "%d %s", code, reason.ptr);
    if (name != NULL && cg_shm_set("socket/closed", name, text, (size_t)len, 0) != 0)
        cg_log(NULL, CG_ERROR, "no room");
    cg_counter_add(closed, 1);
}

CG_MODULE(.init = init, .get = tell, .upgrade = upgrade, .open = open_hook, .message = message,
          .drain = drain, .close = close_hook);
