/* Whether a peer keeps up: a byte at least each `timeout` ms and, once `grace` ms have passed, `rate` bytes a
   second on average. What came fast does not buy more than PACE_CREDIT_MS of coming slowly later. */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdint.h>

#define PACE_CREDIT_MS 60000

struct pace {
    int64_t timeout;   /* ms */
    int64_t rate;      /* bytes a second; 0: any */
    int64_t last;      /* when bytes came */
    int64_t grace_end; /* until then the rate is not looked at */
    int64_t paid;      /* until when the bytes so far are enough for the rate */
    int64_t rest;      /* of the division that made it, in thousandths of a byte */
};

void pace_begin(struct pace *pace, int64_t now, int64_t timeout, int64_t rate, int64_t grace);
void pace_take(struct pace *pace, int64_t now, uint64_t bytes);
/* When the peer is too slow, unless more bytes come before. */
int64_t pace_deadline(const struct pace *pace);

#endif
