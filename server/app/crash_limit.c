#include "app/crash_limit.h"

#include "base/alloc.h"
#include "shm/shm.h"

#include <stdio.h>
#include <string.h>

#define COUNTS "cloudgate/crashes"
#define OFF "cloudgate/off"
#define KEY_SIZE 256

/* A path may be longer than a key; its end tells more than its beginning. */
static const char *key_of(const struct module *module)
{
    const size_t len = strlen(module->name);
    return len < KEY_SIZE ? module->name : module->name + len - (KEY_SIZE - 1);
}

void crash_limit_note(struct shm *shm, const struct module *module, uint64_t limit)
{
    int64_t count;
    if (limit == 0 || shm_key_incr(shm, COUNTS, key_of(module), 1, CRASH_LIMIT_MS, &count) != 0)
        return;
    if ((uint64_t)count >= limit)
        (void)shm_key_set(shm, OFF, key_of(module), &module->build, sizeof module->build, 0);
}

static bool is_off(struct shm *shm, const struct module *module)
{
    uint64_t build;
    size_t len;
    if (shm_key_read(shm, OFF, key_of(module), &build, sizeof build, &len) != 0 || len != sizeof build)
        return false;
    if (build == module->build)
        return true;
    (void)shm_key_delete(shm, OFF, key_of(module));
    (void)shm_key_delete(shm, COUNTS, key_of(module));
    return false;
}

size_t crash_limit_apply(struct shm *shm, struct modules *modules)
{
    size_t count = 0;
    for (size_t i = 0; i < modules->count; i++) {
        struct module *module = modules->items[i];
        if (module->error != NULL || !is_off(shm, module))
            continue;
        module->error =
            xsprintf("%s: is switched off, because it crashed CRASH_LIMIT times within a minute; another "
                     "build of it will be tried again",
                     module->file);
        count++;
    }
    return count;
}
