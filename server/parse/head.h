/* The head of an HTTP/1 request: request line and field lines (RFC 9112), read strictly.

   Two steps, since a head comes in pieces: head_scan finds its end, head_parse decides whether it is
   acceptable and how long the body is. A refusal is a negated HTTP status; the connection must then be closed
   after the answer, because nobody can say where the next request would begin. */
#ifndef PARSE_HEAD_H
#define PARSE_HEAD_H

#include <cloudgate.h>
#include <stdbool.h>
#include <stdint.h>

#define HEAD_MAX_FIELDS 100

struct head_scan {
    /* Bytes of the head once it is complete, skipped ones and the empty line at its end included. */
    size_t len;
    size_t skipped; /* bytes of empty lines before the request line; two lines are forgiven */
    size_t lines;   /* field lines */
    size_t seen;    /* bytes that were looked at */
    size_t line;    /* where the current line begins */
    bool started;   /* the request line is behind */
};

/* Looks for the end of a head in data[0..size); *scan is zeroed at first, and the same one is given again
   when more bytes have come behind those. 1: complete, scan->len bytes. 0: more bytes are needed. Else -400
   a line that ends in a bare LF; a first byte that begins no request (as of a TLS ClientHello); a first line
   that does not end in "HTTP/" and three bytes: refused at once, without waiting for the rest -414  the
   request line is longer than limit -431  the head is longer than limit, or has more than HEAD_MAX_FIELDS
   field lines */
int head_scan(const char *data, size_t size, size_t limit, struct head_scan *scan);

enum body_kind {
    BODY_NONE, /* also for "Content-Length: 0" */
    BODY_LENGTH,
    BODY_CHUNKED,
};

/* Slices point into the data that was parsed (an absent host is ""). All but path end in a NUL. */
struct head {
    cg_str method;
    /* In origin form, or "*": an absolute form is reduced to its path and query ("/" when it has none). */
    cg_str target;
    int minor;        /* of HTTP/1.minor: 0 or 1 */
    cg_field *fields; /* names in lower case, values without blanks around them */
    size_t count;
    cg_str host;  /* of the absolute form if it is one, else of the Host field; may be empty, never NULL */
    cg_str path;  /* of the target, raw; "*" only for OPTIONS */
    cg_str query; /* raw, without '?'; empty when there is none */
    enum body_kind body;
    uint64_t length;      /* of a BODY_LENGTH, else 0 */
    bool keep_alive;      /* the client allows a further request on the connection */
    bool expect_continue; /* a body will come after a 100 */
};

/* Parses the head that scan found. data[0..scan->len) is changed in place; fields has room for scan->lines.
   0, or -400  anything malformed or ambiguous: blanks where none belong, folded lines, control bytes, a
   target that is no path (or with a byte above 0x7e, or a fragment), Host missing, twice or invalid (an empty
   one is allowed; in HTTP/1.0 it may be missing), Content-Length twice, beside Transfer-Encoding, a list, or
   not 1 to 18 digits, Transfer-Encoding twice, in HTTP/1.0, or whose only and last coding is not "chunked"
     -417  an Expect other than 100-continue
     -501  CONNECT; codings before a final "chunked"
     -505  HTTP/x.y other than 1.0 and 1.1 */
int head_parse(char *data, const struct head_scan *scan, cg_field *fields, struct head *ret_head);

#endif
