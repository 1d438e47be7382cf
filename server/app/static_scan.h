/* One look at public/: what is there, and the content of what is new. The first half of making a
   static_table. */
#ifndef APP_STATIC_SCAN_H
#define APP_STATIC_SCAN_H

#include "app/static_table.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"

struct static_item {
    cg_str path;
    const char *disk_path;
    struct stat stat;
    struct blob *blob;                /* the content, with a reference; NULL: it stays on disk */
    const struct static_file *before; /* of the same path, or NULL */
    bool same_stat;                   /* nothing was to be seen of a change since then */
    bool unseen;                      /* taken over from before */
    bool fresh;                       /* was written to just now, so a further change might not be seen */
};

struct static_scan {
    const struct static_options *options;
    const struct static_table *before;
    struct arena arena;
    struct static_item *items;
    size_t count, capacity;
    struct map by_path;
    uint64_t bytes;
    struct buffer warnings;
    bool unsettled; /* a file was being written to or replaced, so that another look may find more */
    int error;
};

/* before may be NULL. 0, or a negative errno; static_scan_finish either way. */
int static_scan_run(struct static_scan *scan, const struct static_options *options,
                    const struct static_table *before);
void static_scan_finish(struct static_scan *scan);

const struct static_item *static_scan_find(const struct static_scan *scan, cg_str path); /* NULL: none */

#endif
