#include "shm/worker.h"

#include "shm/counters.h"
#include "shm/layout.h"
#include "shm/locks.h"
#include "shm/table.h"

#include <errno.h>
#include <unistd.h>

int shm_worker_join(struct shm *shm)
{
    pid_t pid = getpid();
    shm->pid = pid;
    shm->slot = 0;
    for (int slot = 1; slot < SHM_WORKERS; slot++) {
        int32_t nobody = 0;
        if (atomic_compare_exchange_strong(&shm->segment->workers[slot], &nobody, pid) || nobody == pid) {
            shm->slot = slot;
            return 0;
        }
    }
    return -EUSERS;
}

void shm_worker_gone(struct shm *shm, pid_t pid)
{
    if (pid <= 0)
        return;
    shm_locks_worker_gone(shm, pid);
    shm_table_worker_gone(shm, pid);
    for (int slot = 1; slot < SHM_WORKERS; slot++) {
        if (atomic_load(&shm->segment->workers[slot]) != pid)
            continue;
        shm_counters_worker_gone(shm, slot);
        /* Last, so that nobody takes the slot while it still has shares. */
        atomic_store(&shm->segment->workers[slot], 0);
    }
}
