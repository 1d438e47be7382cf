/* Mutexes of ours. Whoever holds one must not be taken out of what it does: see app/fault.h. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <signal.h>

/* By this thread; a signal handler on it looks at that. */
extern _Thread_local volatile sig_atomic_t locks_held;

static inline void lock_take(pthread_mutex_t *mutex)
{
    locks_held = locks_held + 1;
    pthread_mutex_lock(mutex);
}

static inline void lock_drop(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
    locks_held = locks_held - 1;
}

#endif
