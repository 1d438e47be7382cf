#include "shm/mutex.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* Read by a crash handler on the same thread, so it counts from before a lock is taken until after it is
   released. */
static _Thread_local volatile sig_atomic_t held;

void shm_mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0 ||
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) != 0 ||
        pthread_mutex_init(mutex, &attributes) != 0)
        abort();
    pthread_mutexattr_destroy(&attributes);
}

int shm_mutex_lock(pthread_mutex_t *mutex, int (*repair)(void *data), void *data)
{
    held = held + 1;
    int error = pthread_mutex_lock(mutex);
    if (error == EOWNERDEAD) {
        if (repair(data) == 0) {
            error = pthread_mutex_consistent(mutex);
        } else {
            /* Released while inconsistent: from now on everybody is told that it cannot be recovered. */
            pthread_mutex_unlock(mutex);
            error = ENOTRECOVERABLE;
        }
    }
    if (error != 0) {
        held = held - 1;
        return -ENOTRECOVERABLE;
    }
    return 0;
}

void shm_mutex_unlock(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
    held = held - 1;
}

bool shm_mutex_held(void)
{
    return held > 0;
}
