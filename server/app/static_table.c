#include "app/static_table.h"

#include "app/mime.h"
#include "app/static_scan.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/str.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/* What is found at a path. */
struct place {
    enum static_kind kind;
    const struct static_file *file;
};

struct static_table {
    struct arena arena; /* of the places */
    struct map places;
    struct static_file **files;
    size_t count;
    uint64_t bytes;
    bool unsettled;
    char *warnings;
    atomic_uint users;
};

/* ---- places ---- */

/* What is there already stays. */
static void add_place(struct static_table *table, const char *path, size_t len, enum static_kind kind,
                      const struct static_file *file)
{
    struct place *place = arena_alloc(&table->arena, sizeof *place);
    *place = (struct place){kind, file};
    (void)map_add(&table->places, path, len, place);
}

/* In the order of their rank: files, their folders, names without ".html". */
static void add_places(struct static_table *table)
{
    static const char index[] = "/index.html", html[] = ".html";
    const size_t index_len = strlen(index), html_len = strlen(html);
    for (size_t i = 0; i < table->count; i++)
        add_place(table, table->files[i]->path.ptr, table->files[i]->path.len, STATIC_FILE, table->files[i]);
    for (size_t i = 0; i < table->count; i++) {
        cg_str path = table->files[i]->path;
        size_t len = path.len - index_len;
        if (path.len < index_len || strcmp(path.ptr + len, index) != 0)
            continue;
        add_place(table, path.ptr, len + 1, STATIC_FILE, table->files[i]);
        if (len > 0)
            add_place(table, path.ptr, len, STATIC_DIRECTORY, NULL);
    }
    for (size_t i = 0; i < table->count; i++) {
        cg_str path = table->files[i]->path;
        if (path.len > html_len && strcmp(path.ptr + path.len - html_len, html) == 0)
            add_place(table, path.ptr, path.len - html_len, STATIC_FILE, table->files[i]);
    }
}

/* ---- files ---- */

static void add_file(struct static_table *table, struct static_file *file)
{
    table->files[table->count++] = file;
    table->bytes += static_file_bytes(file);
    table->unsettled = table->unsettled || file->fresh;
}

static struct static_table *table_create(size_t capacity, const char *warnings)
{
    struct static_table *table = xzalloc(sizeof *table);
    table->files = xalloc((capacity + 1) * sizeof *table->files);
    table->warnings = xstrdup(warnings);
    return table;
}

static const char *cache_control(const struct static_options *options, cg_str path, char *room, size_t size)
{
    for (size_t i = 0; i < options->rule_count; i++)
        if (fnmatch(options->rules[i].pattern, path.ptr, 0) == 0)
            return options->rules[i].value;
    snprintf(room, size, "max-age=%d", mime_max_age(path));
    return room;
}

/* The content of x.gz and x.br. */
static void find_beside(const struct static_scan *scan, cg_str path, struct blob *ret_beside[CODING_COUNT])
{
    static const char *const suffixes[CODING_COUNT] = {[CODING_GZIP] = ".gz", [CODING_BROTLI] = ".br"};
    for (int coding = 0; coding < CODING_COUNT; coding++) {
        ret_beside[coding] = NULL;
        if (suffixes[coding] == NULL)
            continue;
        char *name = xsprintf("%s%s", path.ptr, suffixes[coding]);
        const struct static_item *item = static_scan_find(scan, cg_string(name));
        ret_beside[coding] = item != NULL ? item->blob : NULL;
        free(name);
    }
}

/* Dates of one path only grow, and each belongs to one content: a client that asks by date must not be told
   "unchanged" when a file was changed twice in a second, or replaced by an older one. */
static int64_t date_of(const struct static_item *item, int64_t now, int64_t *ret_newest)
{
    const struct static_file *before = item->before;
    int64_t date = item->stat.st_mtim.tv_sec < now ? item->stat.st_mtim.tv_sec : now;
    *ret_newest = date;
    if (before == NULL)
        return date;
    if (item->blob == before->blobs[CODING_IDENTITY]) {
        *ret_newest = before->newest_date;
        return before->modified;
    }
    if (date > before->newest_date)
        return date;
    *ret_newest = before->newest_date;
    return before->newest_date < now ? ++*ret_newest : STATIC_UNDATED;
}

static bool same_blobs(struct blob *const a[CODING_COUNT], struct blob *const b[CODING_COUNT])
{
    return memcmp(a, b, CODING_COUNT * sizeof *a) == 0;
}

static struct static_file *make_file(const struct static_options *options, const struct static_scan *scan,
                                     const struct static_item *item, int64_t now)
{
    char room[32];
    const struct static_file *before = item->before;
    struct static_file_parts parts = {
        .path = item->path,
        .disk_path = item->disk_path,
        .cache_control = cache_control(options, item->path, room, sizeof room),
        .stat = item->stat,
        .blobs[CODING_IDENTITY] = item->blob,
        .fresh = item->fresh,
        .unseen = item->unseen,
    };
    find_beside(scan, item->path, parts.beside);
    if (item->blob != NULL)
        parts.varies = parts.beside[CODING_GZIP] != NULL || parts.beside[CODING_BROTLI] != NULL ||
                       (item->blob->len >= CODING_MIN_SIZE && mime_compressible(mime_of(item->path)));
    bool same = before != NULL && item->blob == before->blobs[CODING_IDENTITY] &&
                same_blobs(parts.beside, before->beside);
    if (same && item->same_stat && before->fresh == item->fresh && before->unseen == item->unseen)
        return static_file_keep((struct static_file *)before);
    if (same)
        memcpy(parts.blobs, before->blobs, sizeof parts.blobs);
    parts.finished = !parts.varies || (same && before->finished);
    parts.modified = date_of(item, now, &parts.newest_date);
    return static_file_create(&parts);
}

static bool is_same(const struct static_table *table, const struct static_table *before)
{
    return before != NULL && table->count == before->count &&
           memcmp(table->files, before->files, table->count * sizeof *table->files) == 0;
}

/* Compressed forms go first when memory gets short: they can be done without. */
static void shed_forms(struct static_table *table, uint64_t memory)
{
    for (size_t i = table->count; i-- > 0 && table->bytes > memory;) {
        struct static_file *file = table->files[i];
        struct blob *const alone[CODING_COUNT] = {file->blobs[CODING_IDENTITY]};
        if (same_blobs(alone, file->blobs))
            continue;
        table->bytes -= static_file_bytes(file);
        table->files[i] = static_file_with(file, alone);
        table->bytes += static_file_bytes(table->files[i]);
        static_file_drop(file);
    }
}

int static_table_load(const struct static_options *options, const struct static_table *before,
                      struct static_table **ret_table, char **ret_error)
{
    struct static_scan scan;
    int result = static_scan_run(&scan, options, before);
    if (result < 0) {
        *ret_error = result == -E2BIG ? xsprintf("%s: holds more than %d files (PUBLIC names another folder)",
                                                 options->dir, STATIC_TABLE_MAX_FILES)
                                      : xsprintf("%s: %s", options->dir, strerror(-result));
        static_scan_finish(&scan);
        return result;
    }
    struct static_table *table = table_create(scan.count, scan.warnings.data ? scan.warnings.data : "");
    int64_t now = wall_ms() / 1000;
    for (size_t i = 0; i < scan.count; i++)
        add_file(table, make_file(options, &scan, &scan.items[i], now));
    table->unsettled = table->unsettled || scan.unsettled;
    static_scan_finish(&scan);
    if (is_same(table, before)) {
        static_table_destroy(table);
        return -EALREADY;
    }
    shed_forms(table, options->memory);
    add_places(table);
    *ret_table = table;
    return 0;
}

/* ---- compressed forms ---- */

/* What lies beside the file when that is a form of it, else one that is made here. NULL: not worth it. */
static struct blob *make_form(const struct static_file *file, enum coding coding, uint64_t room)
{
    const struct blob *plain = file->blobs[CODING_IDENTITY];
    struct blob *beside = file->beside[coding];
    size_t worth = coding_worth(plain->len);
    if (beside != NULL && beside->len < plain->len && beside->len <= room &&
        coding_holds(coding, beside->bytes, beside->len, plain->bytes, plain->len))
        return blob_keep(beside);
    if (!mime_compressible(file->type) || worth == 0 || room == 0)
        return NULL;
    if (worth > room)
        worth = (size_t)room;
    char *out = xalloc(worth + 1);
    size_t made = coding_pack(coding, EFFORT_BEST, plain->bytes, plain->len, out, worth);
    if (made == 0) {
        free(out);
        return NULL;
    }
    out[made] = '\0';
    return blob_create(xrealloc(out, made + 1), made);
}

static struct static_file *finish_file(const struct static_file *file, uint64_t room)
{
    struct blob *forms[CODING_COUNT] = {file->blobs[CODING_IDENTITY]};
    forms[CODING_GZIP] = make_form(file, CODING_GZIP, room);
    room -= forms[CODING_GZIP] ? forms[CODING_GZIP]->len : 0;
    forms[CODING_BROTLI] = make_form(file, CODING_BROTLI, room);
    struct static_file *finished = static_file_with(file, forms);
    blob_drop(forms[CODING_GZIP]);
    blob_drop(forms[CODING_BROTLI]);
    return finished;
}

static bool is_finished(const struct static_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!table->files[i]->finished)
            return false;
    return true;
}

struct static_table *static_table_improve(const struct static_options *options,
                                          const struct static_table *before, int64_t until,
                                          const atomic_bool *stop)
{
    if (is_finished(before))
        return NULL;
    struct static_table *table = table_create(before->count, before->warnings);
    table->unsettled = before->unsettled;
    uint64_t bytes = before->bytes;
    bool on = true;
    for (size_t i = 0; i < before->count; i++) {
        struct static_file *file = before->files[i];
        on = on && !atomic_load_explicit(stop, memory_order_relaxed);
        if (file->finished || !on) {
            add_file(table, static_file_keep(file));
            continue;
        }
        struct static_file *finished =
            finish_file(file, bytes < options->memory ? options->memory - bytes : 0);
        bytes += static_file_bytes(finished) - static_file_bytes(file);
        add_file(table, finished);
        on = monotonic_ms() < until;
    }
    add_places(table);
    return table;
}

/* ---- */

void static_table_destroy(struct static_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; i++)
        static_file_drop(table->files[i]);
    free(table->files);
    free(table->warnings);
    map_finish(&table->places);
    arena_finish(&table->arena);
    free(table);
}

bool static_table_unsettled(const struct static_table *table)
{
    return table->unsettled;
}

void static_table_hold(struct static_table *table)
{
    atomic_fetch_add_explicit(&table->users, 1, memory_order_relaxed);
}

void static_table_release(struct static_table *table)
{
    atomic_fetch_sub_explicit(&table->users, 1, memory_order_release);
}

bool static_table_held(const struct static_table *table)
{
    return atomic_load_explicit(&table->users, memory_order_acquire) > 0;
}

enum static_kind static_table_find(const struct static_table *table, cg_str path,
                                   const struct static_file **ret_file)
{
    const struct place *place = map_get(&table->places, path.ptr, path.len);
    if (place == NULL)
        return STATIC_NONE;
    if (place->kind == STATIC_FILE)
        *ret_file = place->file;
    return place->kind;
}

const struct static_file *static_table_file(const struct static_table *table, cg_str path)
{
    const struct static_file *file = NULL;
    if (static_table_find(table, path, &file) != STATIC_FILE || file->path.len != path.len)
        return NULL;
    return file;
}

const struct static_file *static_table_not_found(const struct static_table *table)
{
    const struct static_file *file = NULL;
    (void)static_table_find(table, STR("/404.html"), &file);
    return file;
}

size_t static_table_count(const struct static_table *table)
{
    return table->count;
}

const struct static_file *static_table_at(const struct static_table *table, size_t index)
{
    return table->files[index];
}

uint64_t static_table_bytes(const struct static_table *table)
{
    return table->bytes;
}

const char *static_table_warnings(const struct static_table *table)
{
    return table->warnings;
}
