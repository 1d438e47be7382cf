/* One request and its answer, whatever protocol brought it. A protocol creates it, fills in the head, hands
   it and then its body to dispatch, and destroys it when the answer is sent or the client is gone; the answer
   comes down through stream_ops. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "app/router.h"
#include "http/response.h"

struct files;
struct call;
struct request;

enum http_version { HTTP_1_0, HTTP_1_1, HTTP_2 };

struct stream_ops {
    /* Frames the whole answer and sends it; the protocol destroys the request when it has left. Exactly once
       a request; it may come before the body has ended (413, 404...): what is still to come is then
       unwanted. */
    void (*respond)(struct request *request, const struct response *response);
    /* The answer's stream has more to send, or has ended. On the loop. */
    void (*resume)(struct request *request);
};

struct request {
    struct loop *loop;
    const struct stream_ops *ops;
    struct transport *transport; /* NULL once the protocol has destroyed it */
    void *stream;                /* the protocol's */
    struct arena arena;

    /* The head; filled in by the protocol from memory of the arena, strings terminated. */
    cg_str method_text, target, host, scheme;
    cg_str raw_path, raw_query; /* parts of target, not terminated */
    cg_field *fields;           /* names in lower case, Cookie lines joined */
    size_t field_count;
    bool expects_continue; /* the client waits for a 100 before it sends the body */
    enum http_version version;
    int64_t began; /* monotonic ms */
    bool connect;  /* an HTTP/2 stream that wants to be a WebSocket (RFC 8441) */
    bool redirect; /* came in where everything is sent on to https */

    enum method method;
    cg_str path;                 /* decoded and normalised */
    const struct action *action; /* NULL: not a function's */
    uint64_t body_limit;
    uint64_t received;   /* bytes of the body so far */
    int refusal;         /* the status that the head alone earned; 0: none */
    bool discard;        /* the body is read and dropped */
    bool responded;      /* nothing more is wanted of the body */
    struct files *files; /* pinned, when the answer is made of it; else NULL */
    struct call *call;   /* of a function; else NULL */
    /* Asked when the protocol is done with the request. False: somebody else is not, and destroys it
       later. */
    bool (*release)(struct request *request);
    struct response response;
    struct match match; /* last: too large to be cleared for each request */
};

struct request *request_create(struct loop *loop, struct transport *transport, const struct stream_ops *ops,
                               void *stream);
/* By the protocol, when the answer has left or the client is gone. A function that works on it keeps it
   alive. */
void request_destroy(struct request *request);

/* Answers of the server itself, as text or as the site's 404 page; never with a path or a version in them. */
void request_fail(struct request *request, int status);
/* For protocols that have to refuse what never became a request: the text that belongs to a status. */
cg_str request_error_text(int status);

void request_respond(struct request *request, const struct response *response);
/* Puts text into an answer that says it. */
void request_respond_text(struct request *request, int status, const char *type, cg_str text);

#endif
