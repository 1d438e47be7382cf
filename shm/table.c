#include "shm/table.h"

#include "shm/heap.h"
#include "shm/mutex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many buckets are cleaned in one hold of a shard's lock. */
#define BATCH 64

size_t shm_shard_size(void)
{
    return sizeof(struct shm_shard);
}

int shm_name_init(struct shm *shm, struct shm_name *name, const char *collection, const char *key)
{
    int collection_len = shm_name_length(collection, SHM_COLLECTION_MAX);
    int key_len = collection_len < 0 ? collection_len : shm_name_length(key, SHM_KEY_MAX);
    if (key_len < 0)
        return key_len;
    name->collection_len = (uint8_t)collection_len;
    name->key_len = (uint8_t)key_len;
    name->len = (uint16_t)(collection_len + key_len + 2);
    memcpy(name->bytes, collection, (size_t)collection_len);
    name->bytes[collection_len] = '\0';
    memcpy(name->bytes + collection_len + 1, key, (size_t)key_len);
    name->bytes[name->len - 1] = '\0';
    name->hash = shm_hash(shm, name->bytes, name->len);
    return 0;
}

/* NULL ends a chain, and so does an offset that a stray write has damaged. */
static struct shm_entry *entry_at(const struct shm *shm, uint64_t offset)
{
    return shm_heap_capacity(shm, offset) >= sizeof(struct shm_entry) ? shm_at(shm, offset) : NULL;
}

char *shm_entry_value(struct shm_entry *entry)
{
    return entry->bytes + entry->name_len;
}

static struct shm_shard *shard_at(const struct shm *shm, uint64_t index)
{
    return (struct shm_shard *)shm_at(shm, shm->segment->plan.shards.offset) + index;
}

static uint64_t bucket_count(const struct shm *shm)
{
    return shm->segment->plan.buckets.count;
}

static uint64_t buckets_per_shard(const struct shm *shm)
{
    return bucket_count(shm) / shm->segment->plan.shards.count;
}

static _Atomic uint64_t *bucket_at(const struct shm *shm, uint64_t index)
{
    return (_Atomic uint64_t *)shm_at(shm, shm->segment->plan.buckets.offset) + index;
}

static uint64_t bucket_of(const struct shm *shm, uint64_t hash)
{
    return hash & (bucket_count(shm) - 1);
}

static uint64_t load(const _Atomic uint64_t *link)
{
    return atomic_load_explicit(link, memory_order_acquire);
}

static void store(_Atomic uint64_t *link, uint64_t offset)
{
    atomic_store_explicit(link, offset, memory_order_release);
}

struct repair {
    struct shm *shm;
    uint64_t shard;
};

/* The chains are always right; only what was counted of them may be not. */
static int recount(void *data)
{
    const struct repair *repair = data;
    struct shm_shard *shard = shard_at(repair->shm, repair->shard);
    uint64_t first = repair->shard * buckets_per_shard(repair->shm), count = 0;
    int64_t next_expiry = SHM_FOREVER;
    for (uint64_t i = first; i < first + buckets_per_shard(repair->shm); i++) {
        struct shm_entry *entry = entry_at(repair->shm, load(bucket_at(repair->shm, i)));
        for (; entry != NULL; entry = entry_at(repair->shm, load(&entry->next))) {
            count++;
            if (entry->deadline < next_expiry)
                next_expiry = entry->deadline;
        }
    }
    shard->count = count;
    atomic_store_explicit(&shard->next_expiry, next_expiry, memory_order_relaxed);
    return 0;
}

static int lock(struct shm *shm, uint64_t shard)
{
    struct repair repair = {shm, shard};
    return shm_mutex_lock(&shard_at(shm, shard)->mutex, recount, &repair);
}

static void unlock(struct shm *shm, uint64_t shard)
{
    shm_mutex_unlock(&shard_at(shm, shard)->mutex);
}

void shm_table_init(struct shm *shm)
{
    for (uint64_t i = 0; i < shm->segment->plan.shards.count; i++) {
        shm_mutex_init(&shard_at(shm, i)->mutex);
        recount(&(struct repair){shm, i});
    }
}

static bool has_name(const struct shm_entry *entry, const struct shm_name *name)
{
    return entry->hash == name->hash && entry->name_len == name->len &&
           memcmp(entry->bytes, name->bytes, name->len) == 0;
}

int shm_table_find(struct shm *shm, const struct shm_name *name, struct shm_place *ret_place)
{
    uint64_t bucket = bucket_of(shm, name->hash), shard = bucket / buckets_per_shard(shm);
    int error = lock(shm, shard);
    if (error != 0)
        return error;
    struct shm_place place = {.shard = shard_at(shm, shard), .link = bucket_at(shm, bucket)};
    for (;; place.link = &place.entry->next) {
        place.offset = load(place.link);
        place.entry = entry_at(shm, place.offset);
        if (place.entry == NULL || has_name(place.entry, name))
            break;
    }
    *ret_place = place;
    return 0;
}

void shm_table_unlock(struct shm_place *place)
{
    shm_mutex_unlock(&place->shard->mutex);
}

uint64_t shm_table_put(struct shm *shm, struct shm_place *place, uint64_t fresh)
{
    struct shm_entry *entry = entry_at(shm, fresh);
    uint64_t old = place->entry != NULL ? place->offset : 0;
    store(&entry->next, old != 0 ? load(&place->entry->next) : 0);
    if (entry->deadline < atomic_load_explicit(&place->shard->next_expiry, memory_order_relaxed))
        atomic_store_explicit(&place->shard->next_expiry, entry->deadline, memory_order_relaxed);
    if (old != 0)
        shm_heap_withdraw(shm, old);
    else
        place->shard->count++;
    store(place->link, fresh);
    shm_heap_publish(shm, fresh);
    return old;
}

uint64_t shm_table_take(struct shm *shm, struct shm_place *place)
{
    shm_heap_withdraw(shm, place->offset);
    store(place->link, load(&place->entry->next));
    place->shard->count--;
    return place->offset;
}

/* One bit for each place where a block can start. */
struct marks {
    uint64_t base;
    uint8_t *bits;
};

static bool mark_take(struct marks *marks, uint64_t offset)
{
    uint64_t i = (offset - marks->base) / SHM_HEAP_ALIGN;
    bool marked = marks->bits[i / 8] & 1U << i % 8;
    marks->bits[i / 8] &= (uint8_t) ~(1U << i % 8);
    return marked;
}

static void mark_set(void *data, uint64_t offset)
{
    struct marks *marks = data;
    uint64_t i = (offset - marks->base) / SHM_HEAP_ALIGN;
    marks->bits[i / 8] |= (uint8_t)(1U << i % 8);
}

/* Nothing in a file can be trusted: not even that a chain ends. */
static bool is_whole(const struct shm *shm, uint64_t offset, const struct shm_entry *entry, uint64_t bucket)
{
    uint64_t room = shm_heap_capacity(shm, offset) - sizeof *entry;
    return entry->name_len == entry->collection_len + entry->key_len + 2 &&
           entry->name_len + (uint64_t)entry->value_len <= room &&
           entry->hash == shm_hash(shm, entry->bytes, entry->name_len) &&
           bucket_of(shm, entry->hash) == bucket;
}

static void keep_chain(struct shm *shm, uint64_t bucket, struct marks *marks)
{
    _Atomic uint64_t *link = bucket_at(shm, bucket);
    for (;;) {
        uint64_t offset = load(link);
        struct shm_entry *entry = entry_at(shm, offset);
        if (entry == NULL || !mark_take(marks, offset))
            break;
        if (!is_whole(shm, offset, entry, bucket)) {
            mark_set(marks, offset);
            break;
        }
        shm_heap_publish(shm, offset);
        link = &entry->next;
    }
    store(link, 0);
}

int shm_table_restart(struct shm *shm)
{
    const struct shm_region *heap = &shm->segment->plan.heap;
    uint64_t places = heap->count / SHM_HEAP_ALIGN;
    struct marks marks = {heap->offset, calloc(places / 8 + 1, 1)};
    if (marks.bits == NULL)
        return -ENOMEM;
    int error = shm_heap_walk(shm, mark_set, &marks);
    for (uint64_t i = 0; error == 0 && i < bucket_count(shm); i++)
        keep_chain(shm, i, &marks);
    for (uint64_t i = 0; error == 0 && i < places; i++) {
        uint64_t offset = heap->offset + i * SHM_HEAP_ALIGN;
        if (mark_take(&marks, offset))
            shm_heap_free(shm, offset);
    }
    free(marks.bits);
    shm_table_init(shm);
    return error;
}

struct filter {
    int64_t now; /* what has expired by then, if no collection is given */
    const char *collection;
    size_t len;
};

static bool matches(const struct filter *filter, const struct shm_entry *entry)
{
    if (filter->collection == NULL)
        return entry->deadline <= filter->now;
    return entry->collection_len == filter->len && memcmp(entry->bytes, filter->collection, filter->len) == 0;
}

/* Unlinks what matches in a bucket and puts it before garbage, a chain of unlinked entries. */
static uint64_t unlink_matching(struct shm *shm, uint64_t bucket, const struct filter *filter,
                                uint64_t garbage)
{
    struct shm_place place = {.shard = shard_at(shm, bucket / buckets_per_shard(shm)),
                              .link = bucket_at(shm, bucket)};
    for (;;) {
        place.offset = load(place.link);
        place.entry = entry_at(shm, place.offset);
        if (place.entry == NULL)
            return garbage;
        if (matches(filter, place.entry)) {
            uint64_t taken = shm_table_take(shm, &place);
            store(&place.entry->next, garbage);
            garbage = taken;
        } else {
            place.link = &place.entry->next;
        }
    }
}

static void free_garbage(struct shm *shm, uint64_t garbage)
{
    struct shm_entry *entry;
    while ((entry = entry_at(shm, garbage)) != NULL) {
        uint64_t next = load(&entry->next);
        shm_heap_free(shm, garbage);
        garbage = next;
    }
}

static int remove_matching(struct shm *shm, uint64_t first, uint64_t count, const struct filter *filter)
{
    for (uint64_t at = first; at < first + count; at += BATCH) {
        uint64_t shard = at / buckets_per_shard(shm), garbage = 0;
        int error = lock(shm, shard);
        if (error != 0)
            return error;
        for (uint64_t i = at; i < at + BATCH && i < first + count; i++)
            garbage = unlink_matching(shm, i, filter, garbage);
        unlock(shm, shard);
        free_garbage(shm, garbage);
    }
    return 0;
}

void shm_table_reclaim(struct shm *shm, int64_t now)
{
    struct filter filter = {.now = now};
    for (uint64_t i = 0; i < shm->segment->plan.shards.count; i++) {
        if (atomic_load_explicit(&shard_at(shm, i)->next_expiry, memory_order_relaxed) > now)
            continue;
        remove_matching(shm, i * buckets_per_shard(shm), buckets_per_shard(shm), &filter);
        if (lock(shm, i) == 0) {
            recount(&(struct repair){shm, i});
            unlock(shm, i);
        }
    }
}

int shm_table_clear(struct shm *shm, const char *collection, size_t len)
{
    struct filter filter = {.collection = collection, .len = len};
    return remove_matching(shm, 0, bucket_count(shm), &filter);
}

int shm_table_visit(struct shm *shm, uint64_t bucket, void (*visit)(void *data, struct shm_entry *entry),
                    void *data)
{
    uint64_t shard = bucket / buckets_per_shard(shm);
    int error = lock(shm, shard);
    if (error != 0)
        return error;
    struct shm_entry *entry = entry_at(shm, load(bucket_at(shm, bucket)));
    for (; entry != NULL; entry = entry_at(shm, load(&entry->next)))
        visit(data, entry);
    unlock(shm, shard);
    return 0;
}

/* Asked about a dead process's private block: it died between linking and publishing it or between
   withdrawing and unlinking it, if it is linked. Then it is published; not if somebody else has withdrawn it
   meanwhile, who will free it. */
static bool settle(struct shm *shm, uint64_t offset)
{
    struct shm_entry *dead = entry_at(shm, offset);
    if (dead == NULL)
        return false;
    uint64_t bucket = bucket_of(shm, dead->hash), shard = bucket / buckets_per_shard(shm);
    if (lock(shm, shard) < 0)
        return true;
    uint64_t at = load(bucket_at(shm, bucket));
    struct shm_entry *entry;
    while (at != offset && (entry = entry_at(shm, at)) != NULL)
        at = load(&entry->next);
    if (at == offset)
        shm_heap_publish(shm, offset);
    unlock(shm, shard);
    return at == offset;
}

void shm_table_worker_gone(struct shm *shm, pid_t pid)
{
    shm_heap_sweep(shm, pid, settle);
}

size_t shm_value_max(const struct shm *shm)
{
    size_t quarter = shm->segment->plan.heap.count / 4;
    return quarter < SHM_VALUE_MAX ? quarter : SHM_VALUE_MAX;
}

uint64_t shm_table_count(struct shm *shm)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < shm->segment->plan.shards.count; i++) {
        if (lock(shm, i) < 0)
            continue;
        count += shard_at(shm, i)->count;
        unlock(shm, i);
    }
    return count;
}
