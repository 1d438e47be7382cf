/* Mutexes that processes share and that survive their holder. */
#ifndef SHM_MUTEX_H
#define SHM_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

void shm_mutex_init(pthread_mutex_t *mutex);

/* repair is called after a holder has died and puts right what the mutex guards; not 0: that is beyond
   repair. -ENOTRECOVERABLE, now or before; then it is not locked. */
int shm_mutex_lock(pthread_mutex_t *mutex, int (*repair)(void *data), void *data);
void shm_mutex_unlock(pthread_mutex_t *mutex);

/* True while the calling thread holds one, takes or releases it. Async-signal-safe. */
bool shm_mutex_held(void);

#endif
