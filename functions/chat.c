/* WebSocket /api/chat?name=Ann: what one says, all hear, whatever thread they are on. */
#include <cloudgate.h>
#include <jansson.h>
#include <stdlib.h>

#define ROOM "chat/room"
#define NAME_MAX_LEN 40
#define TEXT_MAX_LEN 500

static cg_counter *present;

static int init(void)
{
    present = cg_gauge_open("chat/present");
    return present ? 0 : -1;
}

/* Takes the JSON over. */
static void tell(json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    if (text != NULL && cg_publish(ROOM, text, strlen(text), CG_TEXT) != 0)
        cg_log(NULL, CG_WARNING, "chat: a message was not told");
    free(text);
    json_decref(json);
}

static void tell_of(cg_ws *ws, const char *what)
{
    const char *name = cg_query(cg_ws_event(ws), "name");
    tell(json_pack("{s:s, s:s, s:I}", "what", what, "name", name, "present",
                   (json_int_t)cg_counter_get(present)));
}

static int upgrade(cg_event *event)
{
    const cg_field *name = cg_find(&event->query_params, "name");
    return name && name->value.len > 0 && name->value.len <= NAME_MAX_LEN ? 0 : 400;
}

static void joined(cg_ws *ws)
{
    cg_counter_add(present, 1);
    if (cg_subscribe(ws, ROOM) != 0)
        cg_ws_close(ws, 1013, "no room");
    tell_of(ws, "joined");
}

static void said(cg_ws *ws, const cg_message *message)
{
    const char *name = cg_query(cg_ws_event(ws), "name");
    if (message->kind != CG_TEXT || message->data.len > TEXT_MAX_LEN)
        cg_ws_close(ws, 1009, "keep it short");
    else if (message->data.len > 0)
        tell(json_pack("{s:s, s:s, s:s#, s:i}", "what", "said", "name", name, "text", message->data.ptr,
                       (int)message->data.len, "loop", cg_loop()));
}

static void left(cg_ws *ws, int code, cg_str reason)
{
    (void)code, (void)reason;
    cg_counter_add(present, -1);
    tell_of(ws, "left");
}

CG_MODULE(.init = init, .upgrade = upgrade, .open = joined, .message = said, .close = left);
