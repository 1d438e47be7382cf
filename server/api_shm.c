/* What modules call for memory that all threads and workers share. */

#pragma GCC visibility push(default)
#include <cloudgate.h>
#pragma GCC visibility pop

#include "app/context.h"
#include "app/event.h"
#include "shm/shm.h"

#include <errno.h>

static cg_counter *counter_or_errno(int error, struct shm_counter *counter)
{
    if (error == 0)
        return (cg_counter *)counter;
    errno = -error;
    return NULL;
}

cg_counter *cg_counter_open(const char *name)
{
    struct shm_counter *counter = NULL;
    int error = shm_counter_open(context.shm, name, &counter);
    return counter_or_errno(error, counter);
}

cg_counter *cg_gauge_open(const char *name)
{
    struct shm_counter *counter = NULL;
    int error = shm_gauge_open(context.shm, name, &counter);
    return counter_or_errno(error, counter);
}

int64_t cg_counter_add(cg_counter *counter, int64_t n)
{
    return shm_counter_add(context.shm, (struct shm_counter *)counter, n);
}

int64_t cg_counter_get(const cg_counter *counter)
{
    return shm_counter_get((const struct shm_counter *)counter);
}

int cg_shm_set(const char *collection, const char *key, const void *data, size_t len, int64_t ttl)
{
    return shm_key_set(context.shm, collection, key, data, len, ttl);
}

int cg_shm_create(const char *collection, const char *key, const void *data, size_t len, int64_t ttl)
{
    return shm_key_create(context.shm, collection, key, data, len, ttl);
}

int cg_shm_cas(const char *collection, const char *key, cg_str expected, cg_str data, int64_t ttl)
{
    return shm_key_cas(context.shm, collection, key, expected.ptr, expected.len, data.ptr, data.len, ttl);
}

static void *from_arena(void *arena, size_t size)
{
    return arena_try(arena, size);
}

cg_str cg_shm_get(cg_event *event, const char *collection, const char *key)
{
    char *value = NULL;
    size_t len = 0;
    int error = shm_key_get(context.shm, collection, key, from_arena, event_of(event)->arena, &value, &len);
    return error == 0 ? cg_bytes(value, len) : cg_bytes(NULL, 0);
}

int64_t cg_shm_read(const char *collection, const char *key, void *buffer, size_t size)
{
    size_t len = 0;
    int error = shm_key_read(context.shm, collection, key, buffer, size, &len);
    return error ? error : (int64_t)len;
}

int cg_shm_delete(const char *collection, const char *key)
{
    return shm_key_delete(context.shm, collection, key);
}

int cg_shm_incr(const char *collection, const char *key, int64_t n, int64_t ttl, int64_t *result)
{
    int64_t sum = 0;
    int error = shm_key_incr(context.shm, collection, key, n, ttl, &sum);
    if (error == 0 && result != NULL)
        *result = sum;
    return error;
}

struct key_list {
    struct arena *arena;
    cg_field *items;
    size_t count, capacity;
};

static int add_key(void *data, const char *key, size_t len)
{
    struct key_list *list = data;
    list->items = arena_extend(list->arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = (cg_field){arena_copy(list->arena, key, len), cg_bytes("", 0)};
    return 0;
}

cg_fields cg_shm_keys(cg_event *event, const char *collection)
{
    struct key_list list = {.arena = event_of(event)->arena};
    if (shm_keys_each(context.shm, collection, add_key, &list) != 0)
        list.count = 0;
    return (cg_fields){list.items, list.count};
}

int cg_shm_clear(const char *collection)
{
    return shm_keys_clear(context.shm, collection);
}

int cg_shm_lock(cg_event *event, const char *name, int wait_ms)
{
    struct event *self = event_of(event);
    int error = shm_lock(context.shm, name, self->owner, wait_ms);
    if (error == 0)
        self->holds_lock = true;
    return error;
}

int cg_shm_unlock(cg_event *event, const char *name)
{
    int error = shm_unlock(context.shm, name, event_of(event)->owner);
    return error == -ENOENT ? -EPERM : error;
}
