/* Memory for keys and their values: two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF", ECRTS
   2004) over one row of blocks. Neighbours that are free are always joined.

   A block is private to the process that got it until it is published, and again from when it is withdrawn.
   Whoever uses the heap keeps this order: link a block, then publish it; withdraw a block, then unlink it. So
   a dead process's blocks are exactly the private ones with its pid, and each of them is linked or to be
   freed. */
#ifndef SHM_HEAP_H
#define SHM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHM_HEAP_ALIGN 16

struct shm;

void shm_heap_init(struct shm *shm);

/* Gets size bytes, aligned to SHM_HEAP_ALIGN, private to this process. A part of the heap is kept for those
   who replace something and will free it at once. -ENOSPC. */
int shm_heap_alloc(struct shm *shm, size_t size, bool replacing, uint64_t *ret_offset);

/* For a block that is private to this process, or that nobody else knows. */
void shm_heap_free(struct shm *shm, uint64_t offset);

void shm_heap_publish(struct shm *shm, uint64_t offset);
void shm_heap_withdraw(struct shm *shm, uint64_t offset);

/* Bytes that fit into the block in use at offset; 0 for an offset where none can be. */
uint64_t shm_heap_capacity(const struct shm *shm, uint64_t offset);

/* Frees each private block of a process that is dead, unless settle tells that it is linked, and has
   published it. It is asked with the heap's lock held. */
int shm_heap_sweep(struct shm *shm, pid_t dead, bool (*settle)(struct shm *shm, uint64_t offset));

/* For a segment of an earlier run that nobody else uses: makes the lock anew and checks every block.
   -EUCLEAN: damaged. */
int shm_heap_restart(struct shm *shm);

/* Calls visit for each block in use, with the heap's lock held. */
int shm_heap_walk(struct shm *shm, void (*visit)(void *data, uint64_t offset), void *data);

/* Bytes in all and in use, headers included. */
void shm_heap_stats(struct shm *shm, uint64_t *ret_size, uint64_t *ret_used);

#endif
