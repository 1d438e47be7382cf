/* One request as a line of an access log. What a client has sent can't end the line, or be taken for another
   field: quotes, backslashes, controls and bytes that are no UTF-8 are escaped. */
#ifndef APP_ACCESS_LINE_H
#define APP_ACCESS_LINE_H

#include "base/buffer.h"

#include <cloudgate.h>
#include <stdint.h>

enum access_format {
    ACCESS_COMMON,   /* as NCSA httpd had it */
    ACCESS_COMBINED, /* the same with Referer and User-Agent */
    ACCESS_JSON,     /* an object */
};

/* Absent texts (ptr NULL) are "-", or null. */
struct access_entry {
    int64_t time; /* ms since 1970 */
    cg_str ip, method, target, host, referer, agent, id;
    const char *version; /* "HTTP/1.1" */
    int status;          /* 499: the client left before there was one */
    int64_t bytes;       /* of the body; -1: not known beforehand */
    int64_t ms;          /* from the head to the end of the answer */
};

void access_line(struct buffer *out, enum access_format format, const struct access_entry *entry);

#endif
