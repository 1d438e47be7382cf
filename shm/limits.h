/* Bounds on what callers name and keep, in bytes without a NUL. */
#ifndef SHM_LIMITS_H
#define SHM_LIMITS_H

#include <stddef.h>

#define SHM_COUNTER_NAME_MAX 127
#define SHM_LOCK_NAME_MAX 127
#define SHM_COLLECTION_MAX 63
#define SHM_KEY_MAX 255
#define SHM_VALUE_MAX ((size_t)1 << 20) /* and a quarter of the store, see shm_stats */

#define SHM_SIZE_MIN ((size_t)1 << 20) /* of the segment */
#define SHM_SIZE_MAX ((size_t)1 << 36)

#endif
