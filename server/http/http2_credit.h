/* What a client may cost: each frame that brings no request nearer to its answer costs one; a reset costs
   more, whether the client sends it (CVE-2023-44487) or makes us send it (CVE-2025-8671). Time, answers that
   it takes whole and bytes that it is sent earn. Honest clients never come near the end of it. */
#ifndef HTTP_HTTP2_CREDIT_H
#define HTTP_HTTP2_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#define HTTP2_CREDIT_MOST 4000
#define HTTP2_CREDIT_PER_S 200
#define HTTP2_CREDIT_PER_ANSWER 4
#define HTTP2_COST_RESET 8      /* beside what the request may have earned */
#define HTTP2_CREDIT_BYTES 1024 /* of bodies sent, that earn one: what they cost is WINDOW_UPDATE */

struct http2_credit {
    int64_t left;
    int64_t since; /* until when time has been paid for, ms */
    uint64_t bytes;
};

void http2_credit_init(struct http2_credit *credit, int64_t now);
bool http2_credit_spend(struct http2_credit *credit, int64_t now, int cost); /* false: there is none left */
void http2_credit_answered(struct http2_credit *credit);
void http2_credit_sent(struct http2_credit *credit, uint64_t bytes);

#endif
