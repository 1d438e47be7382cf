/* Deadlines of one loop, on the monotonic clock in ms. Made for deadlines that are moved on far more often
   than they are met: moving one to later is a store, the heap is put right when the old time comes. */
#ifndef BASE_TIMERS_H
#define BASE_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/* Embedded in what waits; zeroed is unarmed. */
struct timer {
    void (*fire)(struct timer *timer);
    int64_t deadline; /* when it is due */
    int64_t queued;   /* where it stands in the heap: deadline or earlier */
    size_t place;     /* 1 + index in the heap; 0: not armed */
};

struct timers {
    struct timer **heap;
    size_t count, capacity;
};

void timers_finish(struct timers *timers);
/* Arms the timer or moves it. */
void timers_set(struct timers *timers, struct timer *timer, int64_t deadline);
void timers_cancel(struct timers *timers, struct timer *timer); /* harmless when not armed */
/* Fires what is due at now; each is unarmed before it fires and may arm itself again, or free itself. One
   that arms itself for at once waits for the next run. */
void timers_run(struct timers *timers, int64_t now);
/* ms until the next look is needed, at least 0; -1: no timer is armed. */
int timers_wait(const struct timers *timers, int64_t now);

#endif
