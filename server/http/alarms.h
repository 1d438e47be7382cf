/* Timers that functions set on a loop, and calls that they hand to one from elsewhere. */
#ifndef HTTP_ALARMS_H
#define HTTP_ALARMS_H

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

#define ALARMS_MAX 100000 /* of one loop */

struct loop;

/* On the loop's thread. After ms, and with `again` every ms from then on. An id above 0; -EAGAIN: ALARMS_MAX;
   -ECANCELED: the loop is about to end. */
int64_t alarm_set(struct loop *loop, int64_t ms, int again, void (*ring)(void *arg), void *arg);
/* The same; also while it rings. -ENOENT: it has rung, or never was. Looks at all of the loop's. */
int alarm_cancel(struct loop *loop, int64_t id);
/* On the loop's thread: those that ring again and again do not any more; `all`: nor do the others. */
void alarms_cancel(struct loop *loop, bool all);

/* From any thread: a call on the loop, in the order of posting. */
void alarm_post(struct loop *loop, void (*run)(void *arg), void *arg);

#endif
