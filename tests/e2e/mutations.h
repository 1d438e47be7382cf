/* HTTP/1 requests that are wrong, odd, or right in an odd way, each with what RFC 9112 (and where it leaves a
   choice: this server) makes of it. Most have a second request behind them, for /canary; bodies that could be
   read as a request hold one for /smuggled. */
#ifndef E2E_MUTATIONS_H
#define E2E_MUTATIONS_H

#include <stdbool.h>
#include <stddef.h>

#define CANARY "GET /canary HTTP/1.1\r\nHost: x.test\r\nConnection: close\r\n\r\n"
#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: x.test\r\n\r\n"
/* No request can begin with any of these: a server that takes them for the next request refuses it. */
#define BODY "[({})"
#define CHUNKED_BODY "5\r\n" BODY "\r\n0\r\n\r\n"

/* What a server did with the bytes of one connection; bits, so that they make sets. */
enum verdict {
    SILENT = 1,  /* no answer */
    TAKEN = 2,   /* answered, and the canary as well */
    ALONE = 4,   /* answered, but the canary was not run: the connection closed, or it was read otherwise */
    REFUSED = 8, /* a status that refuses the message, and the end */
    CARRIED_ON = 16, /* such a status, and then the canary */
    SMUGGLE = 32,    /* the request within the body was run */
    UNEXPECTED = 64, /* more answers than requests */
};

struct mutation {
    char *name; /* FAMILY/INDEX */
    char *bytes;
    size_t len;
    bool is_head;          /* of that method: the answer has no body */
    enum verdict expected; /* of this server */
    long body;             /* bytes that the function for /probe must see if it is called; -1: any */
};

/* A piece of a request, for the tables of the generators. */
struct expectation {
    const char *text;
    enum verdict expected;
};

struct mutations {
    struct mutation **items;
    size_t count;
    void *known; /* a tree of them, by their bytes */
};

/* All of them, no two with the same bytes. */
struct mutations *mutations_make(void);

/* For the generators: adds it, unless there is one with these bytes. Copies them. */
void mutations_add(struct mutations *mutations, const char *family, size_t index, const void *bytes,
                   size_t len, enum verdict expected, long body);
/* The same of text that it frees. */
void mutations_add_text(struct mutations *mutations, const char *family, size_t index, char *text,
                        enum verdict expected, long body);
void mutations_add_bytes(struct mutations *mutations);   /* each byte at each place */
void mutations_add_framing(struct mutations *mutations); /* lengths, codings, chunks */
void mutations_add_hosts(struct mutations *mutations);
void mutations_add_heads(struct mutations *mutations); /* request lines, fields, ends of lines */

/* RFC 9110, section 5.6.2. Told once more here, on purpose: a test that asks the server's own table repeats
   its mistakes. */
bool byte_is_token(unsigned char byte);

const char *verdict_name(enum verdict verdict);
/* The bytes, readable. */
char *mutation_describe(const struct mutation *mutation);

#endif
