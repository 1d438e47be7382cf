/* Bodies of multipart/form-data (RFC 7578, RFC 2046, 5.1), parsed as they arrive.

   Bytes are pushed in, cut anywhere; parts come out through callbacks, in order. The parser holds one part's
   header, at most limits.head bytes, and never content; its time is linear in the size of the body, whatever
   is in it. */
#ifndef PARSE_MULTIPART_H
#define PARSE_MULTIPART_H

#include "base/buffer.h"

#include <cloudgate.h>

#define MULTIPART_BOUNDARY_MAX 70

/* Strings are terminated and good until begin returns. */
struct multipart_part {
    cg_str name;     /* empty when there is none; never NULL */
    cg_str filename; /* as the client says it: any path, even "../x". ptr NULL: a text field, no file */
    cg_str type;     /* of the Content-Type field, else empty; never NULL */
};

/* A result other than 0 ends the parse, and is what multipart_feed returns. */
struct multipart_sink {
    int (*begin)(void *user, const struct multipart_part *part);
    int (*data)(void *user, const char *data, size_t len); /* never called with 0 bytes; not terminated */
    int (*end)(void *user);
};

struct multipart_limits {
    size_t parts;
    size_t lines; /* header lines of a part */
    size_t head;  /* header bytes of a part */
};

#define MULTIPART_LIMITS ((struct multipart_limits){.parts = 1000, .lines = 20, .head = 8192})

struct multipart {
    struct multipart_limits limits;
    const struct multipart_sink *sink;
    void *user;
    struct buffer head;
    size_t parts, lines;
    size_t matched; /* bytes of the delimiter that the data so far ends in; they are held back */
    size_t assumed; /* how many of those were never content */
    size_t delimiter_len;
    int error;
    unsigned char state;
    char delimiter[4 + MULTIPART_BOUNDARY_MAX]; /* CRLF "--" boundary */
};

/* The boundary in the value of a Content-Type field, not terminated. -415: not multipart/form-data. -400: the
   boundary is missing, there twice, longer than 70 bytes, or has bytes that RFC 2046 does not allow. */
int multipart_boundary(cg_str content_type, cg_str *ret_boundary);

/* boundary comes from multipart_boundary and is copied; sink must live as long as the parser. */
void multipart_init(struct multipart *multipart, cg_str boundary, const struct multipart_limits *limits,
                    const struct multipart_sink *sink, void *user);
void multipart_finish(struct multipart *multipart);

/* 0, -400 (malformed: broken headers, or a line that begins with the delimiter and goes on with anything but
   blanks, a CRLF or "--"), -413 (a limit), or what a callback returned. After an error the same one comes
   again. */
int multipart_feed(struct multipart *multipart, const char *data, size_t len);

/* The body is over: 0, or -400 when its last delimiter has not come, or the error that was. */
int multipart_end(struct multipart *multipart);

#endif
