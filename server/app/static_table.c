#include "app/static_table.h"

#include "app/content.h"
#include "app/mime.h"
#include "app/site_path.h"
#include "app/walk.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/map.h"
#include "parse/date.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>

#define HASH_SIZE 16

/* What is found at a path. */
struct place {
    enum static_kind kind;
    const struct static_file *file;
};

struct static_table {
    struct arena arena; /* of all but the contents */
    struct map places;
    struct static_file **files;
    size_t count, capacity;
    uint64_t bytes;
    struct buffer warnings;
};

/* While it is being loaded. */
struct load {
    struct static_table *table;
    int64_t now;
    int error; /* negative errno that ended it */
};

static void add_field(struct static_file *file, const char *name, const char *value)
{
    file->fields[file->field_count++] = (cg_field){cg_string(name), cg_string(value)};
}

static void make_etag(struct static_file *file, struct arena *arena)
{
    const int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    unsigned char hash[HASH_SIZE];
    char text[sodium_base64_ENCODED_LEN(HASH_SIZE, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)file->data.ptr, file->data.len, NULL,
                             0);
    sodium_bin2base64(text, sizeof text, hash, sizeof hash, variant);
    file->etag = arena_printf(arena, "\"%s\"", text);
}

static void make_fields(struct static_file *file, struct arena *arena)
{
    const char *cache = arena_printf(arena, "max-age=%d", mime_max_age(file->path)).ptr;
    add_field(file, "content-type", file->type);
    add_field(file, "etag", file->etag.ptr);
    add_field(file, "last-modified", file->modified_text);
    add_field(file, "cache-control", cache);
    add_field(file, "x-content-type-options", "nosniff");
    struct buffer lines = {0};
    for (size_t i = 0; i < file->field_count; i++)
        buffer_printf(&lines, "%s: %s\r\n", file->fields[i].name.ptr, file->fields[i].value.ptr);
    file->block = arena_printf(arena, "%scontent-length: %zu\r\n", lines.data, file->data.len);
    file->block_304 = arena_printf(arena, "etag: %s\r\nlast-modified: %s\r\ncache-control: %s\r\n",
                                   file->etag.ptr, file->modified_text, cache);
    buffer_finish(&lines);
}

/* data is taken over. */
static void add_file(struct load *load, const char *name, char *data, const struct stat *stat)
{
    struct static_table *table = load->table;
    struct static_file *file = arena_zalloc(&table->arena, sizeof *file);
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->files = xrealloc(table->files, table->capacity * sizeof *table->files);
    }
    table->files[table->count++] = file;
    table->bytes += (uint64_t)stat->st_size;
    file->path = site_path(&table->arena, "/", name);
    file->data = cg_bytes(data, (size_t)stat->st_size);
    file->type = mime_of(file->path);
    /* A time in the future is none to be compared with (RFC 9110, 8.8.2.1). */
    file->modified = stat->st_mtim.tv_sec < load->now ? stat->st_mtim.tv_sec : load->now;
    date_format(file->modified, file->modified_text);
    make_etag(file, &table->arena);
    make_fields(file, &table->arena);
}

static bool is_hidden(const struct walk_entry *entry)
{
    return entry->base[0] == '.' && strcmp(entry->name, ".well-known") != 0;
}

static void load_file(struct load *load, const struct walk_entry *entry)
{
    struct stat stat;
    char *data;
    int result = -E2BIG;
    if (load->table->count < STATIC_TABLE_MAX_FILES)
        result = content_read(entry->path, STATIC_TABLE_MAX_BYTES - load->table->bytes, &data, &stat);
    if (result == 0)
        add_file(load, entry->name, data, &stat);
    else if (result == -EFBIG || result == -E2BIG)
        load->error = -E2BIG;
    else
        buffer_printf(&load->table->warnings, "%s: %s\n", entry->path,
                      result == -EAGAIN ? "is being written to" : strerror(-result));
}

static enum walk_result visit(void *arg, const struct walk_entry *entry)
{
    struct load *load = arg;
    if (load->error < 0 || is_hidden(entry) || entry->outside)
        return WALK_SKIP;
    if (entry->error != 0)
        buffer_printf(&load->table->warnings, "%s: %s\n", entry->path, strerror(entry->error));
    else if (S_ISREG(entry->stat->st_mode))
        load_file(load, entry);
    return WALK_ON;
}

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

int static_table_load(const char *dir, struct static_table **ret_table, char **ret_error)
{
    struct static_table *table = xzalloc(sizeof *table);
    struct load load = {.table = table, .now = wall_ms() / 1000};
    int result = walk(dir, visit, &load);
    if (result == -ENOENT)
        result = 0;
    if (result == 0)
        result = load.error;
    if (result < 0) {
        *ret_error = result == -E2BIG
                         ? xsprintf("%s: holds more than the %u MB or %d files that are served from memory "
                                    "(PUBLIC names another folder)",
                                    dir, (unsigned)(STATIC_TABLE_MAX_BYTES >> 20), STATIC_TABLE_MAX_FILES)
                         : xsprintf("%s: %s", dir, strerror(-result));
        static_table_destroy(table);
        return result;
    }
    add_places(table);
    *ret_table = table;
    return 0;
}

void static_table_destroy(struct static_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; i++)
        free((char *)table->files[i]->data.ptr);
    free(table->files);
    map_finish(&table->places);
    buffer_finish(&table->warnings);
    arena_finish(&table->arena);
    free(table);
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

const struct static_file *static_table_not_found(const struct static_table *table)
{
    const struct static_file *file = NULL;
    (void)static_table_find(table, cg_string("/404.html"), &file);
    return file;
}

size_t static_table_count(const struct static_table *table)
{
    return table->count;
}

uint64_t static_table_bytes(const struct static_table *table)
{
    return table->bytes;
}

const char *static_table_warnings(const struct static_table *table)
{
    return table->warnings.data ? table->warnings.data : "";
}
