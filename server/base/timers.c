#include "base/timers.h"

#include "base/alloc.h"

#include <limits.h>
#include <stdlib.h>

void timers_finish(struct timers *timers)
{
    if (timers == NULL)
        return;
    free(timers->heap);
    *timers = (struct timers){0};
}

static void put(struct timers *timers, size_t i, struct timer *timer)
{
    timers->heap[i] = timer;
    timer->place = i + 1;
}

static void sift_up(struct timers *timers, size_t i)
{
    struct timer *timer = timers->heap[i];
    while (i > 0 && timers->heap[(i - 1) / 2]->queued > timer->queued) {
        put(timers, i, timers->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(timers, i, timer);
}

static void sift_down(struct timers *timers, size_t i)
{
    struct timer *timer = timers->heap[i];
    for (size_t child; (child = 2 * i + 1) < timers->count; i = child) {
        if (child + 1 < timers->count && timers->heap[child + 1]->queued < timers->heap[child]->queued)
            child++;
        if (timers->heap[child]->queued >= timer->queued)
            break;
        put(timers, i, timers->heap[child]);
    }
    put(timers, i, timer);
}

void timers_set(struct timers *timers, struct timer *timer, int64_t deadline)
{
    timer->deadline = deadline;
    if (timer->place != 0) {
        if (deadline < timer->queued) {
            timer->queued = deadline;
            sift_up(timers, timer->place - 1);
        }
        return;
    }
    timers->heap = xgrow(timers->heap, timers->count, &timers->capacity, sizeof *timers->heap);
    timer->queued = deadline;
    put(timers, timers->count++, timer);
    sift_up(timers, timers->count - 1);
}

void timers_cancel(struct timers *timers, struct timer *timer)
{
    if (timer->place == 0)
        return;
    size_t i = timer->place - 1;
    struct timer *last = timers->heap[--timers->count];
    timer->place = 0;
    if (last == timer)
        return;
    put(timers, i, last);
    sift_up(timers, i);
    sift_down(timers, last->place - 1);
}

void timers_run(struct timers *timers, int64_t now)
{
    for (size_t left = timers->count; left > 0 && timers->count > 0 && timers->heap[0]->queued <= now;
         left--) {
        struct timer *timer = timers->heap[0];
        if (timer->deadline > now) {
            timer->queued = timer->deadline;
            sift_down(timers, 0);
            continue;
        }
        timers_cancel(timers, timer);
        timer->fire(timer);
    }
}

int timers_wait(const struct timers *timers, int64_t now)
{
    if (timers->count == 0)
        return -1;
    int64_t wait = timers->heap[0]->queued - now;
    return wait < 0 ? 0 : wait > INT_MAX ? INT_MAX : (int)wait;
}
