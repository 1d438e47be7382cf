/* What a request asks of the state of what it would get: preconditions and ranges (RFC 9110, 13 and 14). */
#ifndef HTTP_CONDITIONS_H
#define HTTP_CONDITIONS_H

#include "app/static_file.h"
#include "http/request.h"

struct conditions {
    bool match, matched;           /* If-Match is there, and names the entity tag */
    bool none_match, none_matched; /* the same for If-None-Match */
    /* Fields that hold one value; one that is there twice holds none, and is empty. NULL: not there. */
    const cg_field *unmodified_since, *modified_since, *range, *if_range;
};

enum verdict {
    VERDICT_SEND,
    VERDICT_UNCHANGED, /* 304 */
    VERDICT_FAILED     /* 412 */
};

/* etag: of the representation, as it would be sent. */
void conditions_read(struct conditions *conditions, const struct request *request, cg_str etag);
/* In the order of RFC 9110, 13.2.2. modified: s since 1970, or STATIC_UNDATED. */
enum verdict conditions_judge(const struct conditions *conditions, int64_t modified);
/* The Range field if it is to be heeded, If-Range considered; else NULL. now: s since 1970. */
const cg_field *conditions_range(const struct conditions *conditions, cg_str etag, int64_t modified,
                                 int64_t now);

#endif
