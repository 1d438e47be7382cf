/* What modules call for their WebSockets: in their hooks, on the loop or on the pool, and by id from
   anywhere. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "base/log.h"
#include "http/websocket.h"
#include "http/websocket_errand.h"

#include <errno.h>
#include <string.h>

static struct websocket *websocket_of(const cg_ws *ws)
{
    return (struct websocket *)ws;
}

static bool is_here(const struct websocket *ws)
{
    return loop_current() == ws->loop;
}

static int message_error(const void *data, size_t len, cg_kind kind)
{
    if ((data == NULL && len > 0) || (kind != CG_TEXT && kind != CG_BINARY))
        return -EINVAL;
    return kind == CG_TEXT && !utf8_valid(data, len) ? -EILSEQ : 0;
}

int64_t cg_ws_send(cg_ws *ws, const void *data, size_t len, cg_kind kind)
{
    struct websocket *self = websocket_of(ws);
    int64_t result = message_error(data, len, kind);
    if (result != 0)
        return result;
    if (is_here(self))
        return websocket_send(self, data, len, kind);
    result = errand_send(self->id, data, len, kind);
    return result == 0 ? (int64_t)(atomic_load(&self->tunnel.out.queued) + len) : result;
}

int64_t cg_ws_send_id(uint64_t id, const void *data, size_t len, cg_kind kind)
{
    int error = message_error(data, len, kind);
    return error != 0 ? error : errand_send(id, data, len, kind);
}

/* A code that must not be sent is a mistake of the function's. */
static int code_for(int code)
{
    if (code == 0)
        return WS_NORMAL;
    if (ws_code_valid(code))
        return code;
    log_error("cg_ws_close: %d is no code that may be sent; %d is", code, WS_INTERNAL);
    return WS_INTERNAL;
}

void cg_ws_close(cg_ws *ws, int code, const char *reason)
{
    struct websocket *self = websocket_of(ws);
    code = code_for(code);
    if (is_here(self))
        websocket_close(self, code, reason);
    else if (errand_close(self->id, code, reason) != 0)
        log_error("cg_ws_close: too much waits for the loops");
}

int cg_ws_close_id(uint64_t id, int code, const char *reason)
{
    return errand_close(id, code_for(code), reason);
}

const cg_event *cg_ws_event(const cg_ws *ws)
{
    return &websocket_of(ws)->event.public;
}

void *cg_ws_data(const cg_ws *ws)
{
    return websocket_of(ws)->data;
}

void cg_ws_set_data(cg_ws *ws, void *data)
{
    websocket_of(ws)->data = data;
}

uint64_t cg_ws_id(const cg_ws *ws)
{
    return websocket_of(ws)->id;
}

int cg_subscribe_ws(cg_ws *ws, const char *topic)
{
    return errand_subscribe(websocket_of(ws)->id, topic);
}

int cg_unsubscribe(cg_ws *ws, const char *topic)
{
    return errand_unsubscribe(websocket_of(ws)->id, topic);
}
