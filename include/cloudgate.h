/*
 * cloudgate.h: everything a function of a cloudgate server needs.
 *
 *     #include <cloudgate.h>
 *
 *     static void hello(cg_event *event)
 *     {
 *         cg_reply(event, 200, "text/plain", "hello %s\n", event->ip.ptr);
 *     }
 *
 *     CG_MODULE(.handle = hello);
 *
 * Saved as functions/hello.c it answers at /api/hello. A module is a shared object that links to nothing: the
 * names below are found in the server that loads it.
 *
 * Rules that hold throughout: results are borrowed and live as long as the event unless said otherwise;
 * look-ups return NULL for "absent" and "" for "empty"; errors are 0 or a negative errno; strings are UTF-8
 * by convention, bytes in fact; no argument may be NULL unless said otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLOUDGATE_H
#define CLOUDGATE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CG_ABI 1

#define CG_EXPORT __attribute__((visibility("default")))
#define CG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CG_CHECKED __attribute__((warn_unused_result))
#define CG_NONNULL __attribute__((returns_nonnull))

/* ---- data ---- */

/* Bytes with a length. ptr[len] is always '\0', so ptr serves as a C string where no NUL is expected inside.
   An absent string has ptr NULL, where a function says that it can be absent. */
typedef struct cg_str {
    const char *ptr;
    size_t len;
} cg_str;

typedef struct cg_field {
    cg_str name, value;
} cg_field;

/* In the order in which the client sent them; items may be NULL when count is 0. */
typedef struct cg_fields {
    const cg_field *items;
    size_t count;
} cg_fields;

/* A file of a multipart form. filename is what the client says and must never be used as a path. path names
   the temporary file when the content is on disk, else it is absent; data holds the content either way. */
typedef struct cg_file {
    cg_str name, filename, type;
    cg_str data;
    cg_str path;
} cg_file;

typedef struct cg_files {
    const cg_file *items;
    size_t count;
} cg_files;

/* One request, as its function sees it. Valid until the handler returns, or until cg_finish when it was
   deferred. Grows only at its end. */
typedef struct cg_event {
    cg_str method;     /* "GET"; as sent, methods are case-sensitive */
    cg_str path;       /* decoded and normalised: "/api/a b" */
    cg_str ip;         /* of the client, numeric */
    cg_str query;      /* as sent, without '?'; empty when there is none */
    cg_str body;       /* whole; empty when there is none */
    cg_str url;        /* request target as sent: "/api/a%20b?x=1" */
    cg_str host;       /* of the Host field or :authority, with the port if one was sent; may be empty */
    cg_str scheme;     /* "http" or "https" */
    cg_str route;      /* pattern that matched: "/api/users/:id" */
    cg_str id;         /* of this request; the same as in the answer's X-Request-Id and in the logs */
    cg_fields headers; /* names in lower case */
    cg_fields cookies;
    cg_fields query_params;
    cg_fields path_params;
    cg_fields form; /* of a urlencoded or multipart body */
    cg_files files; /* of a multipart body */
    void *data;     /* the function's own */
} cg_event;

typedef struct cg_ws cg_ws;           /* one WebSocket connection */
typedef struct cg_counter cg_counter; /* a number shared by all threads; see cg_counter_open */

typedef enum cg_kind {
    CG_TEXT = 1,
    CG_BINARY = 2,
} cg_kind;

typedef struct cg_message {
    cg_str data;
    cg_kind kind;
} cg_message;

static inline cg_str cg_bytes(const void *ptr, size_t len)
{
    cg_str s = {(const char *)ptr, len};
    return s;
}

/* text may be NULL and is then absent. */
static inline cg_str cg_string(const char *text)
{
    return cg_bytes(text, text ? strlen(text) : 0);
}

/* ---- the module ---- */

/* Handlers run on the event loop that holds the client's connection and must not block, unless CG_BLOCKING
   moves them to the pool. */
#define CG_BLOCKING 0x1

typedef void cg_handler(cg_event *event);

/* What a module offers; every member is optional, one handler is needed. A method without a handler is
   answered 405; .head falls back to .get; .handle takes every method that has no handler of its own. */
typedef struct cg_module {
    uint32_t abi, size; /* filled in by CG_MODULE */
    uint64_t flags;

    /* Once per worker, before the first request. A result other than 0 refuses the module. */
    int (*init)(void);
    void (*fini)(void);
    /* On each thread that will call the module, before its first call there and after its last. */
    int (*thread_init)(void);
    void (*thread_fini)(void);

    cg_handler *handle, *get, *head, *post, *put, *patch;
#ifdef __cplusplus
    cg_handler *delete_;
#else
    cg_handler *delete;
#endif

    /* The body as it arrives, in pieces, before the handler; event->body stays empty. 0 goes on, 400 to 599
       refuses the rest with that status. What the route asks for (key, parameters) must be in the head. */
    int (*body)(cg_event *event, const char *data, size_t len);

    /* WebSocket. upgrade: 0 goes on, 400 to 599 refuses, a negative number refuses with the answer that it
       made (403 when it made none). */
    int (*upgrade)(cg_event *event);
    void (*open)(cg_ws *ws);
    void (*message)(cg_ws *ws, const cg_message *message);
    void (*drain)(cg_ws *ws);
    void (*close)(cg_ws *ws, int code, cg_str reason);
} cg_module;

/* A C++ const is not exported unless it was declared before. */
#ifdef __cplusplus
#define CG_EXPORTED(type, name) \
    extern "C" {                \
    extern CG_EXPORT type name; \
    }                           \
    type name
#else
#define CG_EXPORTED(type, name) CG_EXPORT type name
#endif

/* Once in a module: CG_MODULE(.get = show, .post = add); */
#define CG_MODULE(...) \
    CG_EXPORTED(const cg_module, cg_module_export) = {.abi = CG_ABI, .size = sizeof(cg_module), __VA_ARGS__}

/* A further handler of the same module, named by `handler: show` in apiconfig.yaml: CG_HANDLER(show); */
#define CG_HANDLER(function) CG_EXPORTED(cg_handler *const, cg_handler_##function) = function

/* ---- looking into the event ---- */

/* name in any case; of a repeated field the first. Lines of one Cookie field arrive joined. */
const char *cg_header(const cg_event *event, const char *name);
/* Of a repeated cookie the first (RFC 6265, section 5.4: the more specific path comes first). */
const char *cg_cookie(const cg_event *event, const char *name);
/* Decoded; of a repeated key the last. */
const char *cg_query(const cg_event *event, const char *name);
/* A `:name` segment of the route, decoded. */
const char *cg_path_param(const cg_event *event, const char *name);
/* A text field of the form; of a repeated one the last. */
const char *cg_form(const cg_event *event, const char *name);
/* Looks in path, form, JSON body (a string, number or boolean member of the top object) and query, in this
 * order. */
const char *cg_param(cg_event *event, const char *name);
/* The first field of that name (exact case) with its length, for values that may hold a NUL; NULL when
 * absent. */
const cg_field *cg_find(const cg_fields *fields, const char *name);

/* Decimal digits with an optional '-', nothing else. -EINVAL when text (may be NULL) is no number, -ERANGE
   when it is outside min..max; *value is then untouched. */
CG_CHECKED int cg_parse_int(const char *text, int64_t min, int64_t max, int64_t *value);

/* Gives an uploaded file (one of event->files.items) the name path, whole and at once, replacing what had it.
   path is relative to the app's folder and may not climb out of it (-EACCES), or absolute: never what a
   client says. 0 or a negative errno. */
CG_CHECKED int cg_keep_file(cg_event *event, const cg_file *file, const char *path);

/* ---- the answer ---- */

/* Nothing written and no status set is 204. The default type is text/plain; charset=utf-8. A status outside
   200..599, a field name that is no token, a value with CR, LF or NUL, or a NULL one: logged, and the answer
   becomes 500. Content-Length, Transfer-Encoding, Connection and the like are the server's and are ignored.
 */
void cg_status(cg_event *event, int status);
void cg_set_header(cg_event *event, const char *name, const char *value); /* replaces */
void cg_add_header(cg_event *event, const char *name, const char *value); /* one more of that name */
/* attributes as in "Path=/; HttpOnly", may be NULL. Sent as a Set-Cookie field of its own. */
void cg_set_cookie(cg_event *event, const char *name, const char *value, const char *attributes);

/* Append to the body. */
void cg_write(cg_event *event, const void *data, size_t len);
void cg_print(cg_event *event, const char *format, ...) CG_PRINTF(2, 3);

/* The whole answer in one call. A later one replaces status, type and body of the earlier; fields stay. */
void cg_reply(cg_event *event, int status, const char *type, const char *format, ...) CG_PRINTF(4, 5);
void cg_reply_bytes(cg_event *event, int status, const char *type, const void *data, size_t len);
/* A file below the app's folder, and not in STATE_DIR, wherever links and dots in path would lead. One that
   can't be read is 404, and logged. */
void cg_reply_file(cg_event *event, int status, const char *type, const char *path);
/* A file under functions/, kept in memory until it changes. {{x}} is replaced by the value of x,
   HTML-escaped;
   {{{x}}} by the value as it is; an unknown name by nothing. */
void cg_reply_template(cg_event *event, int status, const char *file, const cg_field *values, size_t count);
void cg_redirect(cg_event *event, int status, const char *location);

/* text with & < > " ' as character references. */
CG_NONNULL const char *cg_html(cg_event *event, const char *text);

/* ---- JSON (jansson: include <jansson.h> and call json_* directly, without a link flag) ---- */

typedef struct json_t json_t;

/* The body, parsed at the first call; borrowed. NULL: it is no JSON, and a 400 that names the place is
 * prepared. */
json_t *cg_json(cg_event *event);
/* json_unpack of the body. A mismatch is -EINVAL, and a 400 that names the member is prepared. */
CG_CHECKED int cg_json_read(cg_event *event, const char *format, ...);
/* Takes over json (also when it fails); NULL is a 500. */
void cg_reply_json(cg_event *event, int status, json_t *json);
/* text as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD. */
CG_NONNULL const char *cg_json_quote(cg_event *event, const char *text);

/* ---- memory of the event ---- */

/* Zeroed. Never NULL: a request for more than the server has ends that request with 500. */
CG_NONNULL void *cg_alloc(cg_event *event, size_t size);
CG_NONNULL char *cg_strdup(cg_event *event, const char *text);
CG_NONNULL char *cg_sprintf(cg_event *event, const char *format, ...) CG_PRINTF(2, 3);

/* ---- shared memory: seen by all threads, survives reloads and crashes ---- */

/* The counter of that name (1 to 127 bytes), made with 0 when new; NULL with errno when the table is full.
   Stays valid for the life of the process: open in init, use anywhere. */
cg_counter *cg_counter_open(const char *name);
/* A counter that loses a worker's share when that worker ends: for "how many are here now". */
cg_counter *cg_gauge_open(const char *name);
/* Adds n and returns the new value; of a counter every result is unique. Wraps around. */
int64_t cg_counter_add(cg_counter *counter, int64_t n);
int64_t cg_counter_get(const cg_counter *counter);

/* Keys (1 to 255 bytes) in collections (1 to 63 bytes). ttl in ms, 0 = for ever. -ENOSPC when the segment is
   full (nothing is evicted), -E2BIG for a name that is too long or a value above 1 MiB or a quarter of the
   segment, -EINVAL for an empty name or a negative ttl. */
CG_CHECKED int cg_shm_set(const char *collection, const char *key, const void *data, size_t len, int64_t ttl);
/* -EEXIST when there is one. */
CG_CHECKED int cg_shm_create(const char *collection, const char *key, const void *data, size_t len,
                             int64_t ttl);
/* Replaces expected by data; -EAGAIN when the value is another, -ENOENT when there is none. */
CG_CHECKED int cg_shm_cas(const char *collection, const char *key, cg_str expected, cg_str data, int64_t ttl);
/* A copy that lives as long as the event; ptr NULL when absent. */
cg_str cg_shm_get(cg_event *event, const char *collection, const char *key);
/* Into a buffer of the caller's, at most size bytes: the whole length of the value, or -ENOENT. */
int64_t cg_shm_read(const char *collection, const char *key, void *buffer, size_t size);
int cg_shm_delete(const char *collection, const char *key); /* -ENOENT when there is none */
/* Adds n to a decimal number, starting from 0 when absent, and gives the sum (result may be NULL). -EINVAL
   when the value is no number, -EOVERFLOW when the sum does not fit. ttl is that of a key made by the call.
 */
CG_CHECKED int cg_shm_incr(const char *collection, const char *key, int64_t n, int64_t ttl, int64_t *result);
/* The keys of a collection at this moment; value is empty. */
cg_fields cg_shm_keys(cg_event *event, const char *collection);
/* Removes all keys of a collection. Like cg_shm_keys it looks at the whole store: not for every request. */
int cg_shm_clear(const char *collection);

/* A named lock (1 to 127 bytes), held across all threads and workers until unlocked or until the event ends.
   Waits wait_ms at most: -ETIMEDOUT; -EDEADLK when this event holds it. */
CG_CHECKED int cg_shm_lock(cg_event *event, const char *name, int wait_ms);
int cg_shm_unlock(cg_event *event, const char *name); /* -EPERM when this event does not hold it */

/* ---- sealed text: encrypted and authenticated (XChaCha20-Poly1305) with a key of the server's ---- */

/* Cookie-safe text that cg_unseal takes for that many seconds. */
CG_NONNULL const char *cg_seal(cg_event *event, const void *data, size_t len, int64_t seconds);
/* -EBADMSG when it is forged or malformed, -ETIME when it is too old; *ret is then untouched. */
CG_CHECKED int cg_unseal(cg_event *event, const char *sealed, cg_str *ret);

/* ---- the world ---- */

typedef enum cg_level {
    CG_ERROR = 3,
    CG_WARNING = 4,
    CG_INFO = 6,
    CG_DEBUG = 7,
} cg_level;

/* event may be NULL; with one, the line carries its id and function. */
void cg_log(const cg_event *event, cg_level level, const char *format, ...) CG_PRINTF(3, 4);
/* A variable of the environment or of .env; NULL when unset. Lives as long as the process. */
const char *cg_env(const char *name);
int64_t cg_now_ms(void); /* since 1970, UTC */
/* ms since 1970 as "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7). */
CG_NONNULL const char *cg_time_text(cg_event *event, int64_t ms);

/* ---- later ---- */

/* The answer comes after the handler has returned, from any thread: of all functions here that take an event
   one thread at a time may call those that change it. cg_finish ends it, once, and without an answer it is
   a 500; the event is not to be touched
   after that. An event that is not finished within the route's timeout is answered 504, and its answer
   dropped when it comes. Only within the handler. */
void cg_defer(cg_event *event);
void cg_finish(cg_event *event);
/* 1 when the client has left, or was answered 504. Answering is then harmless and in vain. From any thread.
 */
int cg_gone(const cg_event *event);

/* ---- streams: answers that are sent piece by piece, from any thread ---- */

/* Sends the head, as it has been set until now, and implies cg_defer: once the head is sent only the progress
   of the client is timed. What cg_write and cg_print append from now on is sent by cg_flush, and cg_finish
   ends the answer. Status and headers set later are ignored, and logged. */
void cg_stream(cg_event *event);
/* Hands over what was written. Returns the bytes that wait for the client, this piece included; -EPIPE: the
   client has left, and what was written is dropped; -EAGAIN: STREAM_QUEUE bytes are waiting, and what was
   written stays for the next cg_flush. Who goes on writing then, as much again, has his client cut off.
   -EINVAL: no stream. */
CG_CHECKED int64_t cg_flush(cg_event *event);
/* drain is called on the event's loop whenever no more than a quarter of STREAM_QUEUE waits, after a cg_flush
   that sent something: the place to write the next piece. closed is called there once when the client leaves
   before the end; cg_finish still has to be called. Both after cg_stream; neither may block. */
void cg_on_drain(cg_event *event, cg_handler *drain);
void cg_on_close(cg_event *event, cg_handler *closed);

/* ---- timers, and calls on other loops ---- */

/* ring(arg) is called on this loop after ms; with cg_every (1 ms at least) again and again. An id above 0 for
   cg_cancel, or a negative errno: -ENOTSUP on a thread that is no event loop's; -EINVAL; -EAGAIN: 100,000 are
   set; -ECANCELED: the loop is about to end. What was set once still rings while it has clients to finish
   with; what rings again and again goes on in the next worker, once that sets it. From thread_init on, in
   whatever runs on the loop. */
CG_CHECKED int64_t cg_after(int64_t ms, void (*ring)(void *arg), void *arg);
CG_CHECKED int64_t cg_every(int64_t ms, void (*ring)(void *arg), void *arg);
/* On the loop that set it, also while it rings. -ENOENT: it has rung already. */
int cg_cancel(int64_t timer);

/* Which loop this thread is, from 0 on; -1: none, but the pool's or a function's own. And how many there are.
 */
int cg_loop(void);
int cg_loops(void);
/* run(arg) is called on that loop, soon, in the order of posting. From any thread. -EINVAL; -ENOTSUP: the
   loops do not run yet, or any more. */
CG_CHECKED int cg_post(int loop, void (*run)(void *arg), void *arg);

/* ---- topics ---- */

/* Delivers to every subscriber of the topic (1 to 127 bytes) on every thread, once each, in one order. From
   any thread. -EILSEQ: CG_TEXT that is no UTF-8; -E2BIG: more than 1 MiB, or a name that is too long;
   -EAGAIN: the loops are 16 MiB behind; -ENOSPC: shared memory is full. */
int cg_publish(const char *topic, const void *data, size_t len, cg_kind kind);

/* cg_subscribe(event, topic): once the handler returns (or cg_finish is called, if it was deferred), the
   answer is a stream of server-sent events until the client leaves: all that is published from now on, and
   before it, for a client that comes back with Last-Event-ID, what it has missed of the last 64 publications
   and two minutes. Up to 16 topics. A client that falls STREAM_QUEUE behind is cut off, and comes back.
   -EALREADY: the answer is a stream of another kind. */
int cg_subscribe_event(cg_event *event, const char *topic);

/* ---- WebSockets: one cg_ws is one client ----

   A module with one of the hooks .open, .message, .drain and .close takes WebSockets where it is routed:
   .upgrade sees the handshake first, and may refuse it. Hooks run on the loop that holds the connection, or,
   with CG_BLOCKING or `mode: blocking`, on the pool; those of one socket never at the same time. In a hook a
   cg_ws * is good from .open until .close has returned, also that of another socket of the same loop; from
   anywhere else a socket is addressed by its id. What a hook allocates with cg_alloc and the like lives until
   it returns; what .upgrade allocated, as long as the socket.

   .close is called once for each socket that was opened. Its code is what the client said; 1005 when it
   closed without one, 1006 when it vanished, and else the one that the server closed with. */

/* Sends a message; the bytes that then wait for the client. -EILSEQ: text that is no UTF-8; -EPIPE: the
   socket is closing; -EAGAIN: more than queueLimit bytes were waiting, so the message is dropped and, unless
   the route says `slow: drop`, the socket closed with 1013. When more than a quarter of queueLimit was
   waiting, .drain is called once no more than that does. On the pool the message leaves with the hook's
   others, and only -EILSEQ, -EINVAL and -EAGAIN (too much waits for the loops) can be told. */
int64_t cg_ws_send(cg_ws *ws, const void *data, size_t len, cg_kind kind);
/* Closes it once all that was sent before has left; no message is delivered any more. code: 1000 to 1014 but
   for 1004 to 1006, or 3000 to 4999; 0 is 1000. reason: UTF-8, 123 bytes are sent of it; may be NULL. */
void cg_ws_close(cg_ws *ws, int code, const char *reason);
const cg_event *cg_ws_event(const cg_ws *ws); /* the handshake; valid until .close returns */
void *cg_ws_data(const cg_ws *ws);            /* what was set last; NULL at first */
void cg_ws_set_data(cg_ws *ws, void *data);
uint64_t cg_ws_id(const cg_ws *ws); /* never used again, and never 0 */

/* The same from any thread. 0: on its way to the loop of the socket, where it may have gone meanwhile;
   -ENOENT: it has. */
int64_t cg_ws_send_id(uint64_t id, const void *data, size_t len, cg_kind kind);
int cg_ws_close_id(uint64_t id, int code, const char *reason);

/* cg_subscribe(ws, topic): in hooks. What is published from now on is sent as a message; a topic that it has
   already is no error. Errors as of cg_publish. */
int cg_subscribe_ws(cg_ws *ws, const char *topic);
int cg_unsubscribe(cg_ws *ws, const char *topic);

#ifdef __cplusplus
}
static inline int cg_subscribe(cg_ws *ws, const char *topic)
{
    return cg_subscribe_ws(ws, topic);
}
static inline int cg_subscribe(cg_event *event, const char *topic)
{
    return cg_subscribe_event(event, topic);
}
#else
#define cg_subscribe(subscriber, topic) \
    _Generic((subscriber), cg_ws * : cg_subscribe_ws, cg_event * : cg_subscribe_event)((subscriber), (topic))
#endif

#endif
