#include "shm/keys.h"

#include "shm/heap.h"
#include "shm/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_MAX 20 /* the longest 64-bit number, its minus included */

/* Memory of our own for bytes on their way between a caller and the segment, where a copy under a lock cannot
   fault. */
struct bounce {
    char small[2048];
    char *bytes;
    size_t size;
};

static int bounce_init(struct bounce *bounce, size_t size)
{
    bounce->size = size;
    bounce->bytes = size <= sizeof bounce->small ? bounce->small : malloc(size);
    return bounce->bytes != NULL ? 0 : -ENOMEM;
}

static void bounce_finish(struct bounce *bounce)
{
    if (bounce->bytes != bounce->small)
        free(bounce->bytes);
}

/* A value on its way into the store. allow is called with the shard's lock held and may refuse it, or look at
   what was there before (NULL if nothing was, or it has expired) and finish the fresh entry. */
struct change {
    const struct shm_name *name;
    const void *value;
    size_t len;
    int64_t now;
    int64_t deadline;
    int (*allow)(struct shm_entry *old, struct shm_entry *fresh, struct change *change);
    const struct bounce *expected; /* of cas */
    int64_t amount;                /* of incr */
    int64_t sum;
};

static int change_init(struct shm *shm, struct change *change, const void *value, size_t len, int64_t ttl_ms)
{
    if (ttl_ms < 0 || (value == NULL && len > 0))
        return -EINVAL;
    if (len > shm_value_max(shm))
        return -E2BIG;
    change->value = value;
    change->len = len;
    change->now = shm_now(shm);
    change->deadline =
        ttl_ms == 0 || ttl_ms >= SHM_FOREVER - change->now ? SHM_FOREVER : change->now + ttl_ms;
    return 0;
}

static struct shm_entry *alive(const struct shm_place *place, int64_t now)
{
    return place->entry != NULL && place->entry->deadline > now ? place->entry : NULL;
}

/* -EEXIST: there is such a key. */
static int check_missing(struct shm *shm, const struct change *change)
{
    struct shm_place place;
    int error = shm_table_find(shm, change->name, &place);
    if (error != 0)
        return error;
    bool found = alive(&place, change->now) != NULL;
    shm_table_unlock(&place);
    return found ? -EEXIST : 0;
}

static int allocate(struct shm *shm, const struct change *change, uint64_t *ret_offset)
{
    size_t size = sizeof(struct shm_entry) + change->name->len + change->len;
    int error = shm_heap_alloc(shm, size, false, ret_offset);
    if (error != -ENOSPC)
        return error;
    shm_table_reclaim(shm, change->now);
    error = shm_heap_alloc(shm, size, false, ret_offset);
    if (error == -ENOSPC && check_missing(shm, change) == -EEXIST)
        error = shm_heap_alloc(shm, size, true, ret_offset);
    return error;
}

/* Makes an entry that nobody else knows yet. The caller's bytes are read here, with no lock held. */
static int entry_create(struct shm *shm, const struct change *change, uint64_t *ret_offset)
{
    int error = allocate(shm, change, ret_offset);
    if (error != 0)
        return error;
    struct shm_entry *entry = shm_at(shm, *ret_offset);
    entry->hash = change->name->hash;
    atomic_init(&entry->next, 0);
    entry->deadline = change->deadline;
    entry->value_len = (uint32_t)change->len;
    entry->name_len = change->name->len;
    entry->collection_len = change->name->collection_len;
    entry->key_len = change->name->key_len;
    memcpy(entry->bytes, change->name->bytes, change->name->len);
    if (change->value != NULL)
        memcpy(shm_entry_value(entry), change->value, change->len);
    return 0;
}

static int commit(struct shm *shm, struct change *change)
{
    uint64_t fresh;
    struct shm_place place;
    int error = entry_create(shm, change, &fresh);
    if (error != 0)
        return error;
    uint64_t garbage = fresh;
    error = shm_table_find(shm, change->name, &place);
    if (error == 0) {
        if (change->allow != NULL)
            error = change->allow(alive(&place, change->now), shm_at(shm, fresh), change);
        if (error == 0)
            garbage = shm_table_put(shm, &place, fresh);
        shm_table_unlock(&place);
    }
    if (garbage != 0)
        shm_heap_free(shm, garbage);
    return error;
}

int shm_key_set(struct shm *shm, const char *collection, const char *key, const void *value, size_t len,
                int64_t ttl_ms)
{
    struct shm_name name;
    struct change change = {.name = &name};
    int error = shm_name_init(shm, &name, collection, key);
    if (error == 0)
        error = change_init(shm, &change, value, len, ttl_ms);
    return error != 0 ? error : commit(shm, &change);
}

static int allow_new(struct shm_entry *old, struct shm_entry *fresh, struct change *change)
{
    (void)fresh;
    (void)change;
    return old != NULL ? -EEXIST : 0;
}

int shm_key_create(struct shm *shm, const char *collection, const char *key, const void *value, size_t len,
                   int64_t ttl_ms)
{
    struct shm_name name;
    struct change change = {.name = &name, .allow = allow_new};
    int error = shm_name_init(shm, &name, collection, key);
    if (error == 0)
        error = change_init(shm, &change, value, len, ttl_ms);
    if (error == 0)
        error = check_missing(shm, &change);
    return error != 0 ? error : commit(shm, &change);
}

static int allow_same(struct shm_entry *old, struct shm_entry *fresh, struct change *change)
{
    (void)fresh;
    if (old == NULL)
        return -ENOENT;
    const struct bounce *expected = change->expected;
    bool same = old->value_len == expected->size &&
                memcmp(shm_entry_value(old), expected->bytes, expected->size) == 0;
    return same ? 0 : -EAGAIN;
}

int shm_key_cas(struct shm *shm, const char *collection, const char *key, const void *expected_bytes,
                size_t expected_len, const void *value, size_t len, int64_t ttl_ms)
{
    struct shm_name name;
    struct bounce expected;
    struct change change = {.name = &name, .allow = allow_same, .expected = &expected};
    int error = shm_name_init(shm, &name, collection, key);
    if (error == 0)
        error = change_init(shm, &change, value, len, ttl_ms);
    if (error != 0)
        return error;
    if ((expected_bytes == NULL && expected_len > 0) || expected_len > shm_value_max(shm))
        return expected_bytes != NULL ? -E2BIG : -EINVAL;
    error = bounce_init(&expected, expected_len);
    if (error != 0)
        return error;
    if (expected_len > 0)
        memcpy(expected.bytes, expected_bytes, expected_len);
    error = commit(shm, &change);
    bounce_finish(&expected);
    return error;
}

/* Strict: an optional minus and digits, nothing else. */
static bool decimal_read(const char *bytes, size_t len, int64_t *ret_value)
{
    char text[DECIMAL_MAX + 1], *end;
    if (len == 0 || len > DECIMAL_MAX)
        return false;
    memcpy(text, bytes, len);
    text[len] = '\0';
    const char *digits = text + (text[0] == '-');
    if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0')
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end != text + len)
        return false;
    *ret_value = value;
    return true;
}

/* The number is written into the fresh entry, which was made with room for the longest one. */
static int allow_sum(struct shm_entry *old, struct shm_entry *fresh, struct change *change)
{
    int64_t value = 0;
    char text[DECIMAL_MAX + 1];
    if (old != NULL && !decimal_read(shm_entry_value(old), old->value_len, &value))
        return -EINVAL;
    if (__builtin_add_overflow(value, change->amount, &value))
        return -EOVERFLOW;
    if (old != NULL)
        fresh->deadline = old->deadline;
    fresh->value_len = (uint32_t)snprintf(text, sizeof text, "%lld", (long long)value);
    memcpy(shm_entry_value(fresh), text, fresh->value_len);
    change->sum = value;
    return 0;
}

int shm_key_incr(struct shm *shm, const char *collection, const char *key, int64_t amount, int64_t ttl_ms,
                 int64_t *ret_value)
{
    struct shm_name name;
    struct change change = {.name = &name, .allow = allow_sum, .amount = amount};
    int error = shm_name_init(shm, &name, collection, key);
    if (error == 0)
        error = change_init(shm, &change, NULL, 0, ttl_ms);
    change.len = DECIMAL_MAX;
    if (error == 0)
        error = commit(shm, &change);
    if (error == 0 && ret_value != NULL)
        *ret_value = change.sum;
    return error;
}

/* Copies up to room bytes into memory of ours. */
static int copy_value(struct shm *shm, const struct shm_name *name, char *to, size_t room, size_t *ret_len)
{
    int64_t now = shm_now(shm);
    struct shm_place place;
    int error = shm_table_find(shm, name, &place);
    if (error != 0)
        return error;
    struct shm_entry *entry = alive(&place, now);
    if (entry != NULL) {
        memcpy(to, shm_entry_value(entry), entry->value_len < room ? entry->value_len : room);
        *ret_len = entry->value_len;
    }
    shm_table_unlock(&place);
    return entry != NULL ? 0 : -ENOENT;
}

int shm_key_get(struct shm *shm, const char *collection, const char *key,
                void *(*alloc)(void *data, size_t size), void *data, char **ret_value, size_t *ret_len)
{
    struct shm_name name;
    struct bounce bounce;
    size_t len = 0, room = sizeof bounce.small;
    int error = shm_name_init(shm, &name, collection, key);
    if (error == 0)
        error = copy_value(shm, &name, bounce.small, room, &len);
    if (error != 0)
        return error;
    bool small = len <= room;
    char *value;
    do {
        room = len;
        value = alloc(data, room + 1);
        if (value == NULL)
            return -ENOMEM;
        if (small)
            memcpy(value, bounce.small, len);
        else
            error = copy_value(shm, &name, value, room, &len);
    } while (error == 0 && len > room); /* another value has come meanwhile */
    if (error != 0)
        return error;
    value[len] = '\0';
    *ret_value = value;
    if (ret_len != NULL)
        *ret_len = len;
    return 0;
}

int shm_key_read(struct shm *shm, const char *collection, const char *key, void *buffer, size_t size,
                 size_t *ret_len)
{
    struct shm_name name;
    struct bounce bounce;
    size_t len = 0;
    int error = shm_name_init(shm, &name, collection, key);
    if (error != 0)
        return error;
    bounce_init(&bounce, size < sizeof bounce.small ? size : sizeof bounce.small);
    error = copy_value(shm, &name, bounce.bytes, bounce.size, &len);
    if (error == 0 && len > bounce.size && size > bounce.size) {
        error = bounce_init(&bounce, size < shm_value_max(shm) ? size : shm_value_max(shm));
        if (error == 0)
            error = copy_value(shm, &name, bounce.bytes, bounce.size, &len);
    }
    if (error == 0 && size > 0)
        memcpy(buffer, bounce.bytes, len < bounce.size ? len : bounce.size);
    bounce_finish(&bounce);
    if (error == 0 && ret_len != NULL)
        *ret_len = len;
    return error;
}

int shm_key_delete(struct shm *shm, const char *collection, const char *key)
{
    struct shm_name name;
    struct shm_place place;
    int error = shm_name_init(shm, &name, collection, key);
    if (error != 0)
        return error;
    int64_t now = shm_now(shm);
    error = shm_table_find(shm, &name, &place);
    if (error != 0)
        return error;
    bool found = alive(&place, now) != NULL;
    uint64_t garbage = place.entry != NULL ? shm_table_take(shm, &place) : 0;
    shm_table_unlock(&place);
    if (garbage != 0)
        shm_heap_free(shm, garbage);
    return found ? 0 : -ENOENT;
}

int shm_keys_clear(struct shm *shm, const char *collection)
{
    char copy[SHM_COLLECTION_MAX];
    int len = shm_name_length(collection, SHM_COLLECTION_MAX);
    if (len < 0)
        return len;
    memcpy(copy, collection, (size_t)len);
    return shm_table_clear(shm, copy, (size_t)len);
}
