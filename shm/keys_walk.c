#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/keys.h"
#include "shm/table.h"

/* The keys of one bucket, copied so that the caller hears of them with no lock held: a length byte, the key,
 * a NUL. */
struct catch
{
    const char *collection;
    size_t collection_len;
    int64_t now;
    size_t needed;
    size_t size;
    char *bytes;
};

static void catch_key(void *data, struct shm_entry *entry)
{
    struct catch *catch = data;
    if (entry->deadline <= catch->now || entry->collection_len != catch->collection_len ||
        memcmp(entry->bytes, catch->collection, catch->collection_len) != 0)
        return;
    size_t len = (size_t)entry->key_len + 2;
    if (catch->needed + len <= catch->size) {
        catch->bytes[catch->needed] = (char)entry->key_len;
        memcpy(catch->bytes + catch->needed + 1, entry->bytes + entry->collection_len + 1, len - 1);
    }
    catch->needed += len;
}

/* Memory is got outside of the lock, so a bucket that does not fit is looked at again. */
static int catch_bucket(struct shm *shm, struct catch *catch, uint64_t bucket)
{
    for (;;) {
        catch->needed = 0;
        int r = shm_table_visit(shm, bucket, catch_key, catch);
        if (r < 0 || catch->needed <= catch->size)
            return r;
        char *bytes = realloc(catch->bytes, catch->needed * 2);
        if (!bytes)
            return -ENOMEM;
        catch->bytes = bytes;
        catch->size = catch->needed * 2;
    }
}

static int tell(const struct catch *catch, shm_key_fn *each, void *data)
{
    for (size_t at = 0; at < catch->needed;) {
        size_t len = (unsigned char)catch->bytes[at];
        int r = each(data, catch->bytes + at + 1, len);
        if (r != 0)
            return r;
        at += len + 2;
    }
    return 0;
}

int shm_keys_each(struct shm *shm, const char *collection, shm_key_fn *each, void *data)
{
    char name[SHM_COLLECTION_MAX];
    int r = shm_name_length(collection, SHM_COLLECTION_MAX);
    if (r < 0)
        return r;
    memcpy(name, collection, (size_t)r);
    struct catch catch = {.collection = name, .collection_len = (size_t)r, .now = shm_now(shm)};
    r = 0;
    for (uint64_t i = 0; r == 0 && i < shm->segment->plan.buckets.count; i++) {
        r = catch_bucket(shm, &catch, i);
        if (r == 0)
            r = tell(&catch, each, data);
    }
    free(catch.bytes);
    return r;
}
