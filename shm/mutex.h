/* Mutexes that processes share and that survive their holder. */
#ifndef SHM_MUTEX_H
#define SHM_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

/* Repairs what the mutex guards after a holder has died; 0, or a negative errno when that is beyond repair.
 */
typedef int shm_repair_fn(void *data);

void shm_mutex_init(pthread_mutex_t *mutex);

/* 0, or -ENOTRECOVERABLE, then not locked. repair may be NULL when there is nothing to repair. */
int shm_mutex_lock(pthread_mutex_t *mutex, shm_repair_fn *repair, void *data);
void shm_mutex_unlock(pthread_mutex_t *mutex);

/* True while the calling thread holds one. */
bool shm_mutex_held(void);

#endif
