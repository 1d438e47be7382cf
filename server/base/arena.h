/* Memory that is freed all at once. An arena draws chunks from a pool, which keeps a few for the next arena:
   each loop has one pool, so a request costs no malloc. Neither is thread-safe. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <cloudgate.h>
#include <stdarg.h>
#include <stddef.h>

#define ARENA_CHUNK_SIZE 8192 /* of a pooled chunk, its header included */
#define ARENA_POOL_KEPT 64    /* chunks a pool keeps */

struct arena_chunk;

struct arena_pool {
    struct arena_chunk *free;
    size_t count;
};

/* Zeroed is a valid empty arena that takes its chunks straight from malloc. */
struct arena {
    struct arena_pool *pool;
    struct arena_chunk *chunks;
    char *next, *end;
    void (*exhausted)(struct arena *arena); /* called when memory is out; need not return. NULL: abort */
};

void arena_pool_finish(struct arena_pool *pool);

void arena_init(struct arena *arena, struct arena_pool *pool); /* pool may be NULL */
void arena_finish(struct arena *arena);                        /* frees all; the arena can be used again */

/* Frees all but the chunk that its first block is in. */
void arena_keep_first(struct arena *arena);

size_t arena_size(const struct arena *arena); /* bytes of its chunks */

/* Aligned for any type, not cleared. Aborts when memory is out: bound what a client chooses, or use
   arena_try. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
void *arena_try(struct arena *arena, size_t size); /* NULL when memory is out */
/* For memory from elsewhere that belongs to the same work: does not return. */
_Noreturn void arena_exhausted(struct arena *arena);

/* Makes the block at ptr (NULL when old is 0) hold size bytes, in place when it is the newest one. */
void *arena_grow(struct arena *arena, void *ptr, size_t old, size_t size);
/* Room for one more in an array of count items of that size: doubles *capacity when all of it is used. */
void *arena_extend(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size);

/* Copies, always terminated by a NUL that is not counted. data may be NULL when len is 0. */
cg_str arena_copy(struct arena *arena, const void *data, size_t len);
cg_str arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
cg_str arena_vprintf(struct arena *arena, const char *format, va_list args);

#endif
