/* WebSockets of the benchmark: an echo; with ?fan in the query all hear what one says. */
#include <cloudgate.h>
#include <stdbool.h>

static void opened(cg_ws *ws)
{
    if (cg_query(cg_ws_event(ws), "fan") && cg_subscribe(ws, "fan") != 0)
        cg_ws_close(ws, 1013, "no room");
}

static void message(cg_ws *ws, const cg_message *message)
{
    const bool fan = cg_query(cg_ws_event(ws), "fan") != NULL;
    int64_t result = fan ? cg_publish("fan", message->data.ptr, message->data.len, message->kind)
                         : cg_ws_send(ws, message->data.ptr, message->data.len, message->kind);
    if (result < 0)
        cg_log(cg_ws_event(ws), CG_ERROR, "a message was lost");
}

CG_MODULE(.open = opened, .message = message);
