#include "process/changes.h"

#include "app/walk.h"
#include "base/buffer.h"

#include <string.h>
#include <sys/stat.h>

struct look {
    uint64_t hash; /* FNV-1a */
    unsigned of;
};

static void add(struct look *look, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        look->hash = (look->hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
}

/* What changes when a file is written, replaced or switched. */
static void add_file(struct look *look, const char *name, const struct stat *stat)
{
    const int64_t facts[] = {(int64_t)stat->st_dev, (int64_t)stat->st_ino, (int64_t)stat->st_size,
                             (int64_t)stat->st_mtim.tv_sec, (int64_t)stat->st_mtim.tv_nsec};
    add(look, name, strlen(name) + 1);
    add(look, facts, sizeof facts);
}

static bool is_source(const char *base)
{
    static const char *const ends[] = {".c", ".cc", ".cpp", ".h", ".hpp"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (walk_ends_in(base, ends[i]))
            return true;
    return false;
}

static enum walk_result visit(void *arg, const struct walk_entry *entry)
{
    struct look *look = arg;
    if (entry->base[0] == '.')
        return WALK_SKIP;
    if (entry->stat == NULL || !S_ISREG(entry->stat->st_mode))
        return WALK_ON;
    if (((look->of & CHANGES_OF_MODULES) && walk_ends_in(entry->base, ".so")) ||
        ((look->of & CHANGES_OF_SOURCES) && is_source(entry->base)))
        add_file(look, entry->name, entry->stat);
    return WALK_ON;
}

static void add_path(struct look *look, const char *path)
{
    struct stat stat_of = {0};
    if (path != NULL && stat(path, &stat_of) == 0)
        add_file(look, path, &stat_of);
}

uint64_t changes_fingerprint(const struct settings *settings, unsigned of)
{
    struct look look = {.hash = UINT64_C(0xcbf29ce484222325), .of = of};
    if (of & (CHANGES_OF_MODULES | CHANGES_OF_SOURCES))
        (void)walk(settings->functions_link, visit, &look); /* a folder that is not there has nothing */
    if (of & CHANGES_OF_MODULES) {
        add_path(&look, settings->ssl_cert);
        add_path(&look, settings->ssl_key);
    }
    if (of & CHANGES_OF_CONFIG) {
        static const char *const names[] = {"apiconfig.yaml", "apiconfig.yml", "apiconfig.json", ".env"};
        struct buffer path = {0};
        add_path(&look, settings->config_file);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            path.len = 0;
            buffer_printf(&path, "%s/%s", settings->root, names[i]);
            add_path(&look, path.data);
        }
        buffer_finish(&path);
    }
    return look.hash;
}

void changes_take(struct changes *changes, uint64_t fingerprint, int64_t now)
{
    *changes = (struct changes){.taken = fingerprint, .seen = fingerprint, .since = now, .begun = now};
}

bool changes_see(struct changes *changes, uint64_t fingerprint, int64_t now)
{
    if (fingerprint != changes->seen) {
        if (changes->seen == changes->taken)
            changes->begun = now;
        changes->seen = fingerprint;
        changes->since = now;
    }
    return fingerprint != changes->taken &&
           (now - changes->since >= CHANGES_SETTLE_MS || now - changes->begun >= CHANGES_LONGEST_MS);
}
