/* The hash table of keys: chains of entries in shards, one lock each; internal to this room. A chain changes
   by one store at a time, so it is whole whenever its holder dies. */
#ifndef SHM_TABLE_H
#define SHM_TABLE_H

#include "shm/layout.h"
#include "shm/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHM_FOREVER INT64_MAX

/* A copy of the names, so that nobody changes them under us: collection, NUL, key, NUL. */
struct shm_name {
    uint64_t hash;
    uint16_t len; /* both NULs included */
    uint8_t collection_len;
    uint8_t key_len;
    char bytes[SHM_COLLECTION_MAX + 1 + SHM_KEY_MAX + 1];
};

/* A heap block. Only next changes once it is linked. */
struct shm_entry {
    uint64_t hash;
    _Atomic uint64_t next;
    int64_t deadline; /* by shm_now; SHM_FOREVER */
    uint32_t value_len;
    uint16_t name_len;
    uint8_t collection_len;
    uint8_t key_len;
    char bytes[]; /* the name, then the value */
};

struct shm_shard {
    _Alignas(SHM_LINE) pthread_mutex_t mutex;
    uint64_t count;              /* entries; derived */
    _Atomic int64_t next_expiry; /* no deadline is before it; derived, and read without the lock */
};

/* A name's place: link is what leads, or would lead, to its entry. */
struct shm_place {
    struct shm_shard *shard;
    _Atomic uint64_t *link;
    uint64_t offset;
    struct shm_entry *entry; /* NULL if there is none */
};

/* -EINVAL or -E2BIG, as shm_name_length. */
int shm_name_init(struct shm *shm, struct shm_name *name, const char *collection, const char *key);

char *shm_entry_value(struct shm_entry *entry);

void shm_table_init(struct shm *shm);

/* After shm_heap_restart: keeps every whole entry that is linked, frees all other blocks. -ENOMEM. */
int shm_table_restart(struct shm *shm);

/* Looks a name up, expired or not, and returns with its shard locked; or a negative errno, then not
   locked. */
int shm_table_find(struct shm *shm, const struct shm_name *name, struct shm_place *ret_place);
void shm_table_unlock(struct shm_place *place);

/* Puts a private entry in the place, and takes out the one that was there, which is private then. 0 for
   none. */
uint64_t shm_table_put(struct shm *shm, struct shm_place *place, uint64_t fresh);
uint64_t shm_table_take(struct shm *shm, struct shm_place *place);

/* Frees what has expired before now. */
void shm_table_reclaim(struct shm *shm, int64_t now);

/* Deletes the entries of a collection. */
int shm_table_clear(struct shm *shm, const char *collection, size_t len);

/* Calls visit for the entries of bucket, with its shard locked. */
int shm_table_visit(struct shm *shm, uint64_t bucket, void (*visit)(void *data, struct shm_entry *entry),
                    void *data);

void shm_table_worker_gone(struct shm *shm, pid_t pid);
uint64_t shm_table_count(struct shm *shm);
size_t shm_shard_size(void);

/* Longest value that a key may have. */
size_t shm_value_max(const struct shm *shm);

#endif
