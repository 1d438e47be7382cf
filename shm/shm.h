/* The whole of the shared-memory room, for those who need more than one part of it. */
#ifndef SHM_SHM_H
#define SHM_SHM_H

#include "shm/counters.h"
#include "shm/keys.h"
#include "shm/locks.h"
#include "shm/segment.h"
#include "shm/worker.h"

#endif
