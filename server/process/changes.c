#include "process/changes.h"

#include "app/compiler.h"
#include "app/walk.h"
#include "base/buffer.h"

#include <sys/stat.h>

struct look {
    uint64_t hash; /* FNV-1a */
    unsigned of;
};

static void add_byte(struct look *look, uint8_t byte)
{
    look->hash = (look->hash ^ byte) * UINT64_C(0x100000001b3);
}

static void add_number(struct look *look, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        add_byte(look, (uint8_t)(number >> shift));
}

/* What changes when a file is written, replaced or switched. */
static void add_file(struct look *look, const char *name, const struct stat *stat)
{
    for (const char *c = name; *c != '\0'; c++)
        add_byte(look, (uint8_t)*c);
    add_number(look, stat->st_dev);
    add_number(look, stat->st_ino);
    add_number(look, (uint64_t)stat->st_size);
    add_number(look, (uint64_t)stat->st_mtim.tv_sec);
    add_number(look, (uint64_t)stat->st_mtim.tv_nsec);
}

static enum walk_result visit(void *arg, const struct walk_entry *entry)
{
    struct look *look = arg;
    if (entry->base[0] == '.')
        return WALK_SKIP;
    if (entry->stat == NULL || !S_ISREG(entry->stat->st_mode))
        return WALK_ON;
    if (((look->of & CHANGES_OF_MODULES) && walk_ends_in(entry->base, ".so")) ||
        ((look->of & CHANGES_OF_SOURCES) &&
         (compiler_is_source(entry->base) || compiler_is_header(entry->base))))
        add_file(look, entry->name, entry->stat);
    return WALK_ON;
}

static void add_path(struct look *look, const char *path)
{
    struct stat stat_of;
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
