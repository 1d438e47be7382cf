/* Keys in collections: (collection, key) -> bytes, with a time to live. Readers see whole values only, the
   old or the new one, also when a writer is killed. A full store refuses new values after it has dropped
   expired ones; it never evicts. A small part of it is kept for changing keys that exist.

   Errors of all: -EINVAL: a name is NULL or empty. -E2BIG: a name or value is too long. ttl_ms counts from
   now, 0 is for ever, less than 0 is -EINVAL. */
#ifndef SHM_KEYS_H
#define SHM_KEYS_H

#include "shm/limits.h"

#include <stddef.h>
#include <stdint.h>

struct shm;

/* -ENOSPC: no room. */
int shm_key_set(struct shm *shm, const char *collection, const char *key, const void *value, size_t len,
                int64_t ttl_ms);

/* Only if there is no such key: -EEXIST. -ENOSPC. */
int shm_key_create(struct shm *shm, const char *collection, const char *key, const void *value, size_t len,
                   int64_t ttl_ms);

/* Only if the value is still these bytes: -EAGAIN when it is another, -ENOENT when there is none. -ENOSPC. */
int shm_key_cas(struct shm *shm, const char *collection, const char *key, const void *expected,
                size_t expected_len, const void *value, size_t len, int64_t ttl_ms);

/* Adds to a number kept as decimal text and gives the new one. A key that is missing counts as 0 and lives
   for ttl_ms; one that is there keeps its deadline. -EINVAL: the value is not a number. -EOVERFLOW: it would
   leave 64 bits. -ENOSPC. */
int shm_key_incr(struct shm *shm, const char *collection, const char *key, int64_t amount, int64_t ttl_ms,
                 int64_t *ret_value);

/* Copies the value, and a NUL behind it, into memory that alloc gives, which can be written without a fault
   and is the caller's. -ENOENT. -ENOMEM: alloc gave NULL. */
int shm_key_get(struct shm *shm, const char *collection, const char *key,
                void *(*alloc)(void *data, size_t size), void *data, char **ret_value, size_t *ret_len);

/* Copies up to size bytes into buffer and gives the whole length of the value, which may be more. -ENOENT.
   -ENOMEM. */
int shm_key_read(struct shm *shm, const char *collection, const char *key, void *buffer, size_t size,
                 size_t *ret_len);

/* -ENOENT. */
int shm_key_delete(struct shm *shm, const char *collection, const char *key);

/* Calls each for the keys of a collection, in no order. A key that is there during the whole walk comes
   exactly once. each is called with no lock held, key is valid during the call, anything but 0 ends the walk.
   Looks at all keys of the store, so it takes as long as the store is large. Returns what ended it, or
   -ENOMEM. */
int shm_keys_each(struct shm *shm, const char *collection,
                  int (*each)(void *data, const char *key, size_t len), void *data);

/* Deletes the keys of a collection, at the same price; those set meanwhile may stay. */
int shm_keys_clear(struct shm *shm, const char *collection);

#endif
