#include "base/map.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Eight bytes a step, mixed by a multiplication; keys are paths of some tens of bytes. */
static uint32_t hash_of(const char *key, size_t len)
{
    const uint64_t prime = 0x9e3779b97f4a7c15u;
    uint64_t hash = len * prime, word;
    for (; len >= 8; key += 8, len -= 8) {
        memcpy(&word, key, 8);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, key, len);
    hash = (hash ^ word) * prime;
    return (uint32_t)(hash >> 32);
}

void map_finish(struct map *map)
{
    if (map == NULL)
        return;
    free(map->slots);
    *map = (struct map){0};
}

static struct map_slot *find(const struct map *map, const char *key, size_t len, uint32_t hash)
{
    for (size_t i = hash & map->mask;; i = (i + 1) & map->mask) {
        struct map_slot *slot = &map->slots[i];
        if (slot->key == NULL || (slot->hash == hash && slot->len == len && memcmp(slot->key, key, len) == 0))
            return slot;
    }
}

static void enlarge(struct map *map)
{
    struct map old = *map;
    size_t size = old.slots ? 2 * (old.mask + 1) : 16;
    map->slots = xzalloc(size * sizeof *map->slots);
    map->mask = size - 1;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].key != NULL)
            *find(map, old.slots[i].key, old.slots[i].len, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

int map_add(struct map *map, const char *key, size_t len, void *value)
{
    if (map->slots == NULL || 2 * (map->count + 1) > map->mask)
        enlarge(map);
    uint32_t hash = hash_of(key, len);
    struct map_slot *slot = find(map, key, len, hash);
    if (slot->key != NULL)
        return -EEXIST;
    *slot = (struct map_slot){.key = key, .len = len, .hash = hash, .value = value};
    map->count++;
    return 0;
}

void *map_get(const struct map *map, const char *key, size_t len)
{
    return map->count == 0 ? NULL : find(map, key, len, hash_of(key, len))->value;
}
