#include "base/arena.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT alignof(max_align_t)
#define FIRST_CAPACITY 8 /* of an array that grows */

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; /* header included */
};

#define HEADER ((sizeof(struct arena_chunk) + ALIGNMENT - 1) & ~(ALIGNMENT - 1))

static size_t rounded(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void arena_pool_finish(struct arena_pool *pool)
{
    if (pool == NULL)
        return;
    for (struct arena_chunk *chunk = pool->free, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *pool = (struct arena_pool){0};
}

void arena_init(struct arena *arena, struct arena_pool *pool)
{
    *arena = (struct arena){.pool = pool};
}

static void give_back(struct arena_pool *pool, struct arena_chunk *chunk)
{
    if (pool == NULL || chunk->size != ARENA_CHUNK_SIZE || pool->count == ARENA_POOL_KEPT) {
        free(chunk);
        return;
    }
    chunk->next = pool->free;
    pool->free = chunk;
    pool->count++;
}

void arena_finish(struct arena *arena)
{
    if (arena == NULL)
        return;
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        give_back(arena->pool, chunk);
    }
    arena_init(arena, arena->pool);
}

void arena_keep_first(struct arena *arena)
{
    while (arena->chunks != NULL && arena->chunks->next != NULL) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        give_back(arena->pool, chunk);
    }
    arena->next = arena->end = NULL;
}

size_t arena_size(const struct arena *arena)
{
    size_t size = 0;
    for (const struct arena_chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next)
        size += chunk->size;
    return size;
}

static struct arena_chunk *take_chunk(struct arena *arena, size_t size)
{
    struct arena_pool *pool = arena->pool;
    struct arena_chunk *chunk;
    if (size == ARENA_CHUNK_SIZE && pool != NULL && pool->free != NULL) {
        chunk = pool->free;
        pool->free = chunk->next;
        pool->count--;
        return chunk;
    }
    chunk = malloc(size);
    if (chunk != NULL)
        chunk->size = size;
    return chunk;
}

/* A block larger than a chunk gets one of its own and leaves the current chunk in use. */
static void *from_new_chunk(struct arena *arena, size_t size)
{
    size_t need = HEADER + size;
    int large = need > ARENA_CHUNK_SIZE;
    if (need < size)
        return NULL;
    struct arena_chunk *chunk = take_chunk(arena, large ? need : ARENA_CHUNK_SIZE);
    if (chunk == NULL)
        return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    char *block = (char *)chunk + HEADER;
    if (!large || arena->next == NULL) {
        arena->next = block + size;
        arena->end = (char *)chunk + chunk->size;
    }
    return block;
}

void *arena_try(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = rounded(size);
    if ((size_t)(arena->end - arena->next) < size)
        return from_new_chunk(arena, size);
    void *block = arena->next;
    arena->next += size;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *block = arena_try(arena, size ? size : 1);
    if (block == NULL)
        arena_exhausted(arena);
    return block;
}

void arena_exhausted(struct arena *arena)
{
    if (arena->exhausted != NULL)
        arena->exhausted(arena);
    alloc_abort();
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    return memset(arena_alloc(arena, size), 0, size);
}

void *arena_grow(struct arena *arena, void *ptr, size_t old, size_t size)
{
    size_t had = rounded(old ? old : 1), want = rounded(size);
    if (ptr != NULL && (char *)ptr + had == arena->next && (size_t)(arena->end - (char *)ptr) >= want) {
        arena->next = (char *)ptr + want;
        return ptr;
    }
    void *block = arena_alloc(arena, size);
    if (ptr != NULL)
        memcpy(block, ptr, old < size ? old : size);
    return block;
}

void *arena_extend(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    size_t had = *capacity, wanted = had > 0 ? 2 * had : FIRST_CAPACITY;
    if (count < had)
        return items;
    items = arena_grow(arena, items, had * size, wanted * size);
    *capacity = wanted; /* not before: running out of memory may not return */
    return items;
}

cg_str arena_copy(struct arena *arena, const void *data, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = '\0';
    return cg_bytes(copy, len);
}

cg_str arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    char small[256];
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    cg_str text = STR("");
    if (len >= 0 && (size_t)len < sizeof small) {
        text = arena_copy(arena, small, (size_t)len);
    } else if (len >= 0) {
        char *block = arena_alloc(arena, (size_t)len + 1);
        vsnprintf(block, (size_t)len + 1, format, again);
        text = cg_bytes(block, (size_t)len);
    }
    va_end(again);
    return text;
}

cg_str arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cg_str text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
