/* A hash table from strings to pointers, built once and then only read (by any number of threads). Keys and
   values are borrowed. A zeroed map is empty and valid. Keys come from the operator, never from clients. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    const char *key; /* NULL: free */
    size_t len;
    uint32_t hash;
    void *value;
};

struct map {
    struct map_slot *slots;
    size_t count, mask;
};

void map_finish(struct map *map);
/* 0, or -EEXIST (and nothing changed) when the key is there. value must not be NULL. */
int map_add(struct map *map, const char *key, size_t len, void *value);
void *map_get(const struct map *map, const char *key, size_t len); /* NULL when absent */

#endif
