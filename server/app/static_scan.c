#include "app/static_scan.h"

#include "app/site_path.h"
#include "app/walk.h"
#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* File systems count time in steps; a change within the same step as the one before does not show. */
#define STEP_NS 20000000

static bool is_hidden(const struct walk_entry *entry)
{
    return entry->base[0] == '.' && strcmp(entry->name, ".well-known") != 0;
}

static bool same_stat(const struct stat *a, const struct stat *b)
{
    return file_is_unchanged(a, b) && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool is_recent(struct timespec time, struct timespec now)
{
    return (now.tv_sec - time.tv_sec) * INT64_C(1000000000) + now.tv_nsec - time.tv_nsec < STEP_NS;
}

static struct static_item *add_item(struct static_scan *scan)
{
    scan->items = xgrow(scan->items, scan->count, &scan->capacity, sizeof *scan->items);
    struct static_item *item = &scan->items[scan->count++];
    *item = (struct static_item){0};
    return item;
}

/* The content before it when that is the same, so that tables share it. */
static struct blob *take_content(char *data, size_t len, const struct static_file *before)
{
    struct blob *old = before ? before->blobs[CODING_IDENTITY] : NULL;
    if (old == NULL || old->len != len || memcmp(old->bytes, data, len) != 0)
        return blob_create(data, len);
    free(data);
    return blob_keep(old);
}

static int read_item(struct static_item *item)
{
    char *data;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int result = file_read(item->disk_path, STATIC_FILE_MAX_BYTES, &data, &item->stat);
    if (result == -EFBIG) /* it has grown */
        return access(item->disk_path, R_OK) == 0 ? 0 : -errno;
    if (result < 0)
        return result;
    item->fresh = is_recent(item->stat.st_mtim, now) || is_recent(item->stat.st_ctim, now);
    item->blob = take_content(data, (size_t)item->stat.st_size, item->before);
    return 0;
}

/* Content that was there before, or that is read now; on disk when it is too much. */
static int fill_in(struct static_scan *scan, struct static_item *item)
{
    const struct static_file *before = item->before;
    uint64_t size = (uint64_t)item->stat.st_size;
    bool fits = size <= STATIC_FILE_MAX_BYTES && scan->bytes + size <= scan->options->memory;
    item->same_stat = before != NULL && same_stat(&before->stat, &item->stat) && before->on_disk == !fits;
    if (!fits)
        return access(item->disk_path, R_OK) == 0 ? 0 : -errno;
    if (item->same_stat && !before->fresh) {
        item->blob = blob_keep(before->blobs[CODING_IDENTITY]);
        return 0;
    }
    int result = read_item(item);
    if (result == 0 && before != NULL && item->same_stat)
        item->same_stat = same_stat(&before->stat, &item->stat);
    return result;
}

/* Somebody writes to it: what was there before stays until that has come to an end. */
static int wait_for_it(struct static_scan *scan, struct static_item *item)
{
    scan->unsettled = true;
    if (item->before == NULL || item->before->on_disk)
        return -EAGAIN;
    item->stat = item->before->stat;
    item->blob = blob_keep(item->before->blobs[CODING_IDENTITY]);
    item->same_stat = item->fresh = true;
    return 0;
}

static void take_file(struct static_scan *scan, const struct walk_entry *entry)
{
    if (scan->count == STATIC_TABLE_MAX_FILES) {
        scan->error = -E2BIG;
        return;
    }
    struct static_item *item = add_item(scan);
    item->path = site_path(&scan->arena, "/", entry->name);
    item->disk_path = arena_copy(&scan->arena, entry->path, strlen(entry->path)).ptr;
    item->stat = *entry->stat;
    item->before = scan->before ? static_table_file(scan->before, item->path) : NULL;
    int result = fill_in(scan, item);
    if (result == -EAGAIN)
        result = wait_for_it(scan, item);
    if (result == 0) {
        scan->bytes += item->blob ? item->blob->len : 0;
        return;
    }
    scan->count--;
    if (result != -ENOENT)
        buffer_printf(&scan->warnings, "%s: %s\n", entry->path,
                      result == -EAGAIN ? "is being written to" : strerror(-result));
}

static enum walk_result visit(void *arg, const struct walk_entry *entry)
{
    struct static_scan *scan = arg;
    if (scan->error < 0 || is_hidden(entry) || entry->outside)
        return WALK_SKIP;
    if (entry->error != 0)
        buffer_printf(&scan->warnings, "%s: %s\n", entry->path, strerror(entry->error));
    else if (S_ISREG(entry->stat->st_mode))
        take_file(scan, entry);
    else if (S_ISDIR(entry->stat->st_mode) && scan->options->enter != NULL)
        scan->options->enter(scan->options->arg, entry->path);
    return WALK_ON;
}

static void make_map(struct static_scan *scan)
{
    map_finish(&scan->by_path);
    for (size_t i = 0; i < scan->count; i++)
        (void)map_add(&scan->by_path, scan->items[i].path.ptr, scan->items[i].path.len, &scan->items[i]);
}

static void keep_unseen(struct static_scan *scan, const struct static_file *file)
{
    struct static_item *item = add_item(scan);
    item->path = file->path;
    item->disk_path = file->disk_path;
    item->stat = file->stat;
    item->blob = blob_keep(file->blobs[CODING_IDENTITY]);
    item->before = file;
    item->same_stat = item->fresh = item->unseen = true;
    scan->bytes += item->blob ? item->blob->len : 0;
}

/* Folders may leave out an entry that is being replaced at that moment. What was there the last time, and is
   there when one asks for it, is given another look before it goes. */
static void find_unseen(struct static_scan *scan)
{
    struct stat status;
    size_t seen = scan->count;
    for (size_t i = 0; scan->before != NULL && i < static_table_count(scan->before); i++) {
        const struct static_file *file = static_table_at(scan->before, i);
        /* Only whether it is there: what the map leads to may have moved. */
        if (static_scan_find(scan, file->path) == NULL && !file->unseen &&
            lstat(file->disk_path, &status) == 0)
            keep_unseen(scan, file);
    }
    if (scan->count > seen)
        make_map(scan);
}

int static_scan_run(struct static_scan *scan, const struct static_options *options,
                    const struct static_table *before)
{
    *scan = (struct static_scan){.options = options, .before = before};
    if (options->enter != NULL)
        options->enter(options->arg, options->dir);
    int result = walk(options->dir, visit, scan);
    if (result < 0 && result != -ENOENT)
        return result;
    make_map(scan);
    find_unseen(scan);
    return scan->error;
}

void static_scan_finish(struct static_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        blob_drop(scan->items[i].blob);
    free(scan->items);
    map_finish(&scan->by_path);
    buffer_finish(&scan->warnings);
    arena_finish(&scan->arena);
}

const struct static_item *static_scan_find(const struct static_scan *scan, cg_str path)
{
    return map_get(&scan->by_path, path.ptr, path.len);
}
