/* The files of public/, ready to be sent. A table is immutable once it is published, so any number of threads
   may use it; when files change, another table takes its place, which shares with it what has not changed.

   A file has one path, spelled as path_normalise spells it. Besides: `/docs/` is docs/index.html; `/docs`,
   when that exists, is a redirect to it; and `/about` is about.html, when there is neither a file nor such a
   folder of that name. Left out: names that begin with a dot (but for .well-known at the top), links that
   lead out of the folder, and what is no regular file. */
#ifndef APP_STATIC_TABLE_H
#define APP_STATIC_TABLE_H

#include "app/static_file.h"
#include "config/settings.h"

#include <stdatomic.h>

#define STATIC_FILE_MAX_BYTES ((uint64_t)8 << 20) /* a larger one is read from disk for each request */
#define STATIC_TABLE_MAX_FILES 100000

enum static_kind {
    STATIC_NONE,
    STATIC_FILE,
    STATIC_DIRECTORY /* to be redirected to the path with a slash at its end */
};

struct static_options {
    const char *dir;
    uint64_t memory;                /* bytes of content that may be kept; the rest stays on disk */
    const struct cache_rule *rules; /* for Cache-Control; the first that matches wins */
    size_t rule_count;
    void (*enter)(void *arg, const char *dir); /* NULL, or called before a folder is looked through */
    void *arg;
};

struct static_table;

/* before: the table that this one follows, or NULL. A missing dir is an empty one. 0; -EALREADY when
   everything is as it was before; or a negative errno (-E2BIG: more than STATIC_TABLE_MAX_FILES) and its text
   (caller frees). Files that can't be read are left out and told in the warnings. */
int static_table_load(const struct static_options *options, const struct static_table *before,
                      struct static_table **ret_table, char **ret_error);

/* The same files, with compressed forms of those that can have them: as many as are made before the time
   (monotonic ms) or *stop. NULL when none is left to be made. */
struct static_table *static_table_improve(const struct static_options *options,
                                          const struct static_table *before, int64_t until,
                                          const atomic_bool *stop);
void static_table_destroy(struct static_table *table);

/* Whether a file was being written to or replaced, so that one should soon look again. */
bool static_table_unsettled(const struct static_table *table);

/* Users are counted, so that whoever made a table can tell when nobody needs it any more. From any thread. */
void static_table_hold(struct static_table *table);
void static_table_release(struct static_table *table);
bool static_table_held(const struct static_table *table);

/* path is normalised. *ret_file is set for STATIC_FILE only. */
enum static_kind static_table_find(const struct static_table *table, cg_str path,
                                   const struct static_file **ret_file);
/* The file of that very path, not one that another path leads to; or NULL. */
const struct static_file *static_table_file(const struct static_table *table, cg_str path);
const struct static_file *static_table_not_found(const struct static_table *table); /* 404.html, or NULL */

size_t static_table_count(const struct static_table *table); /* files */
const struct static_file *static_table_at(const struct static_table *table, size_t index);
uint64_t static_table_bytes(const struct static_table *table); /* of content in memory */
/* Lines, each ended by \n; "" when none. */
const char *static_table_warnings(const struct static_table *table);

#endif
