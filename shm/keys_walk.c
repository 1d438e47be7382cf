#include "shm/keys.h"

#include "shm/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The keys of one bucket, copied so that the caller hears of them with no lock held: a length byte, the key,
   a NUL. */
struct bucket_copy {
    const char *collection;
    size_t collection_len;
    int64_t now;
    size_t needed;
    size_t size;
    char *bytes;
};

static void copy_key(void *data, struct shm_entry *entry)
{
    struct bucket_copy *copy = data;
    if (entry->deadline <= copy->now || entry->collection_len != copy->collection_len ||
        memcmp(entry->bytes, copy->collection, copy->collection_len) != 0)
        return;
    size_t len = (size_t)entry->key_len + 2;
    if (copy->needed + len <= copy->size) {
        copy->bytes[copy->needed] = (char)entry->key_len;
        memcpy(copy->bytes + copy->needed + 1, entry->bytes + entry->collection_len + 1, len - 1);
    }
    copy->needed += len;
}

/* Memory is got outside of the lock, so a bucket that does not fit is looked at again. */
static int copy_bucket(struct shm *shm, struct bucket_copy *copy, uint64_t bucket)
{
    for (;;) {
        copy->needed = 0;
        int error = shm_table_visit(shm, bucket, copy_key, copy);
        if (error != 0 || copy->needed <= copy->size)
            return error;
        char *bytes = realloc(copy->bytes, copy->needed * 2);
        if (bytes == NULL)
            return -ENOMEM;
        copy->bytes = bytes;
        copy->size = copy->needed * 2;
    }
}

static int tell(const struct bucket_copy *copy, int (*each)(void *data, const char *key, size_t len),
                void *data)
{
    for (size_t at = 0; at < copy->needed;) {
        size_t len = (unsigned char)copy->bytes[at];
        int result = each(data, copy->bytes + at + 1, len);
        if (result != 0)
            return result;
        at += len + 2;
    }
    return 0;
}

int shm_keys_each(struct shm *shm, const char *collection,
                  int (*each)(void *data, const char *key, size_t len), void *data)
{
    char name[SHM_COLLECTION_MAX];
    int len = shm_name_length(collection, SHM_COLLECTION_MAX);
    if (len < 0)
        return len;
    memcpy(name, collection, (size_t)len);
    struct bucket_copy copy = {.collection = name, .collection_len = (size_t)len, .now = shm_now(shm)};
    int result = 0;
    for (uint64_t i = 0; result == 0 && i < shm->segment->plan.buckets.count; i++) {
        result = copy_bucket(shm, &copy, i);
        if (result == 0)
            result = tell(&copy, each, data);
    }
    free(copy.bytes);
    return result;
}
