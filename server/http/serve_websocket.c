#include "http/serve_websocket.h"

#include "app/message_coding.h"
#include "base/str.h"
#include "http/app.h"
#include "http/websocket.h"
#include "parse/field.h"
#include "parse/origin.h"
#include "parse/ws_deflate.h"

#include <openssl/sha.h>
#include <sodium.h>
#include <string.h>

#define VERSION "13"
#define KEY_SIZE 16      /* bytes of a nonce */
#define KEY_TEXT_SIZE 24 /* of it in base64 */
#define OWN_FIELDS 5
#define WS_KEPT_BITS 12      /* of windows that live on: 4 kB, and some 30 kB for each socket in all */
#define NO_ANSWER_STATUS 403 /* for an .upgrade that refuses without a word */

/* ---- what the client asks ---- */

/* The only field of that name; NULL: there is none, or more than one. */
static const cg_field *only_field(const struct request *request, const char *name)
{
    const cg_fields fields = {request->fields, request->field_count};
    const cg_field *field = fields_first(&fields, name);
    return field == fields_last(&fields, name) ? field : NULL;
}

static bool lists(const struct request *request, const char *name, const char *token)
{
    for (size_t i = 0; i < request->field_count; i++)
        if (str_is(request->fields[i].name, name) && list_has(request->fields[i].value, token))
            return true;
    return false;
}

bool websocket_is_asked(const struct request *request)
{
    return request->connect || (request->version == HTTP_1_1 && request->method == METHOD_GET &&
                                lists(request, "upgrade", "websocket"));
}

static bool key_is_good(const struct request *request)
{
    const cg_field *key = only_field(request, "sec-websocket-key");
    unsigned char nonce[KEY_SIZE];
    size_t len;
    return key != NULL && key->value.len == KEY_TEXT_SIZE &&
           sodium_base642bin(nonce, sizeof nonce, key->value.ptr, key->value.len, NULL, &len, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           len == KEY_SIZE;
}

/* Browsers tell where a page comes from; who is none may leave it out. By default only pages of this very
   site may connect. */
static bool origin_is_good(const struct request *request, const struct socket_rules *rules)
{
    const cg_fields fields = {request->fields, request->field_count};
    const cg_field *field = fields_first(&fields, "origin");
    char origin[ORIGIN_MAX];
    if (field == NULL || rules->any_origin)
        return true;
    if (only_field(request, "origin") == NULL || !origin_normalise(field->value, origin))
        return false;
    for (size_t i = 0; i < rules->origin_count; i++)
        if (str_is(rules->origins[i], origin))
            return true;
    return rules->origin_count == 0 && origin_is_of_host(field->value, request->host);
}

int websocket_check(const struct request *request, const struct socket_rules *rules, bool has_body)
{
    const cg_field *version = only_field(request, "sec-websocket-version");
    if (version == NULL || !str_is(version->value, VERSION))
        return 426;
    if (!request->connect && (has_body || !key_is_good(request) || !lists(request, "connection", "upgrade")))
        return 400;
    return origin_is_good(request, rules) ? 0 : 403;
}

void serve_websocket_wanted(struct request *request)
{
    static const cg_field fields[] = {
        {STR("content-type"), STR("text/plain; charset=utf-8")},
        {STR("sec-websocket-version"), STR(VERSION)},
        {STR("upgrade"), STR("websocket")},
        {STR("connection"), STR("Upgrade")},
    };
    struct response response = {.status = request->connect ? 400 : 426,
                                .fields = fields,
                                /* HTTP/2 knows no Upgrade (RFC 9113, section 8.6). */
                                .field_count = request->version == HTTP_2 ? 2 : 4,
                                .body = STR("426 - A WebSocket of version " VERSION " is expected here\n")};
    loop_count_refusal(request->loop, response.status);
    request_respond(request, &response);
}

/* ---- what the server answers ---- */

static cg_str accept_key(struct request *request)
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const cg_field *key = only_field(request, "sec-websocket-key");
    unsigned char hash[SHA_DIGEST_LENGTH];
    char *text =
        arena_alloc(&request->arena, sodium_base64_ENCODED_LEN(sizeof hash, sodium_base64_VARIANT_ORIGINAL));
    cg_str both = arena_printf(&request->arena, "%s%s", key->value.ptr, guid);
    SHA1((const unsigned char *)both.ptr, both.len, hash);
    sodium_bin2base64(text, sodium_base64_ENCODED_LEN(sizeof hash, sodium_base64_VARIANT_ORIGINAL), hash,
                      sizeof hash, sodium_base64_VARIANT_ORIGINAL);
    return cg_string(text);
}

/* The first that the client names and the route knows; ptr NULL: none. */
static cg_str choose_protocol(const struct request *request, const struct socket_rules *rules)
{
    for (size_t i = 0; i < request->field_count; i++) {
        cg_str rest = request->fields[i].value, item;
        while (str_is(request->fields[i].name, "sec-websocket-protocol") && list_next(&rest, &item))
            for (size_t k = 0; k < rules->protocol_count; k++)
                if (str_equal(rules->protocols[k], item))
                    return rules->protocols[k];
    }
    return cg_bytes(NULL, 0);
}

/* The windows live on where the route wants it, and no larger than need be, because each socket has its own.
 */
static cg_str keep_windows(struct request *request, const struct ws_deflate *deflate, struct websocket *ws)
{
    struct arena *arena = &request->arena;
    cg_str limit = STR("");
    if (deflate->client_keeps && deflate->client_bits > WS_KEPT_BITS)
        limit = arena_printf(arena, "; client_max_window_bits=%d", WS_KEPT_BITS);
    if (ws->bits > WS_KEPT_BITS)
        ws->bits = WS_KEPT_BITS;
    ws->coding = message_coding_create(deflate->server_keeps, deflate->client_keeps);
    return arena_printf(arena, "permessage-deflate%s%s%s; server_max_window_bits=%d",
                        deflate->server_keeps ? "" : "; server_no_context_takeover",
                        deflate->client_keeps ? "" : "; client_no_context_takeover", limit.ptr, ws->bits);
}

static cg_str drop_windows(struct request *request, const struct ws_deflate *deflate)
{
    cg_str bits = deflate->bits_asked
                      ? arena_printf(&request->arena, "; server_max_window_bits=%d", deflate->bits)
                      : STR("");
    return arena_printf(&request->arena,
                        "permessage-deflate; server_no_context_takeover; client_no_context_takeover%s",
                        bits.ptr);
}

/* ptr NULL: nothing is compressed. */
static cg_str choose_deflate(struct request *request, const struct action *action, struct websocket *ws)
{
    struct ws_deflate deflate;
    for (size_t i = 0; i < request->field_count && !action->plain; i++) {
        if (!str_is(request->fields[i].name, "sec-websocket-extensions") ||
            !ws_deflate_accept(request->fields[i].value, &deflate))
            continue;
        ws->bits = deflate.bits;
        return action->socket->takeover ? keep_windows(request, &deflate, ws)
                                        : drop_windows(request, &deflate);
    }
    return cg_bytes(NULL, 0);
}

static void add(cg_field *fields, size_t *count, cg_str name, cg_str value)
{
    if (value.ptr != NULL)
        fields[(*count)++] = (cg_field){name, value};
}

/* Fields that the function has set come along, but for what only we can know. */
static size_t add_answer(cg_field *fields, size_t count, const struct answer *answer)
{
    for (size_t i = 0; i < answer->field_count; i++)
        if (strncmp(answer->fields[i].name.ptr, "sec-websocket-", 14) != 0 &&
            !str_is(answer->fields[i].name, "content-type"))
            fields[count++] = answer->fields[i];
    return count;
}

void serve_websocket_accept(struct request *request, struct event *event)
{
    struct websocket *ws = request->call->socket;
    const struct answer *answer = &event->answer;
    cg_field *fields = arena_alloc(&request->arena, (answer->field_count + OWN_FIELDS) * sizeof *fields);
    size_t count = 0;
    if (!request->connect) {
        add(fields, &count, STR("upgrade"), STR("websocket"));
        add(fields, &count, STR("connection"), STR("Upgrade"));
        add(fields, &count, STR("sec-websocket-accept"), accept_key(request));
    }
    add(fields, &count, STR("sec-websocket-protocol"), choose_protocol(request, event->action->socket));
    add(fields, &count, STR("sec-websocket-extensions"), choose_deflate(request, event->action, ws));
    request->call->socket = NULL;
    websocket_open(ws, event);
    struct response response = {.status = request->connect ? 200 : 101,
                                .fields = fields,
                                .field_count = add_answer(fields, count, answer),
                                .tunnel = &ws->tunnel,
                                .stream = &ws->tunnel.out};
    request_respond(request, &response);
    websocket_begin(ws);
}

/* ---- the call of .upgrade ---- */

/* True: it is a WebSocket from now on; else the event holds the answer. */
static bool is_accepted(struct event *event)
{
    struct answer *answer = &event->answer;
    const int verdict = event->verdict;
    if (answer->fault != NULL || verdict == 0)
        return answer->fault == NULL;
    if (verdict >= 400 && verdict <= 599)
        answer_text(answer, verdict, "%d - The WebSocket was refused", verdict);
    else if (verdict > 0)
        answer_fault(answer, ".upgrade returned %d, which is no status of a refusal", verdict);
    else if (answer->status == 0 && answer->body_len == 0)
        answer_text(answer, NO_ANSWER_STATUS, "%d - The WebSocket was refused", NO_ANSWER_STATUS);
    return false;
}

static void finish(struct call *call)
{
    websocket_discard(call->socket);
    call->socket = NULL;
}

static void done(struct call *call)
{
    struct event *event = &call->event;
    event->arena = &call->arena;
    event->accepted = is_accepted(event);
    call_send_head(call);
}

static const struct call_way way = {.done = done, .finish = finish};

void serve_websocket_begin(struct call *call)
{
    call->socket = websocket_create(call->loop, &call->event);
    atomic_store(&call->way, &way);
}
