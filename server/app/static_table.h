/* The files of public/, read once and ready to be sent. Immutable, so any number of threads may use it.

   A file has one path, spelled as path_normalise spells it. Besides: `/docs/` is docs/index.html; `/docs`,
   when that exists, is a redirect to it; and `/about` is about.html, when there is neither a file nor such a
   folder of that name. Left out: names that begin with a dot (but for .well-known at the top), links that
   lead out of the folder, and what is no regular file. */
#ifndef APP_STATIC_TABLE_H
#define APP_STATIC_TABLE_H

#include <cloudgate.h>
#include <stddef.h>
#include <stdint.h>

#define STATIC_TABLE_MAX_BYTES ((uint64_t)256 << 20) /* of all files together; also the bound of one */
#define STATIC_TABLE_MAX_FILES 100000

struct static_file {
    cg_str path;      /* "/docs/a b.html" */
    cg_str data;      /* terminated by a NUL that is not counted */
    const char *type; /* value of Content-Type */
    cg_str etag;      /* quoted, strong: made from the content */
    int64_t modified; /* s since 1970, never later than the loading */
    char modified_text[30];
    /* Of a 200: content-type, etag, last-modified, cache-control, x-content-type-options. No content-length.
     */
    cg_field fields[8];
    size_t field_count;
    /* Field lines for HTTP/1, each ended by CRLF: the fields above and content-length; those of a 304. */
    cg_str block, block_304;
};

enum static_kind {
    STATIC_NONE,
    STATIC_FILE,
    STATIC_DIRECTORY /* to be redirected to the path with a slash at its end */
};

struct static_table;

/* A missing dir is an empty one. 0, or a negative errno (-E2BIG above the bounds) and its text (caller
   frees). Files that can't be read are left out and told in the warnings. */
int static_table_load(const char *dir, struct static_table **ret_table, char **ret_error);
void static_table_destroy(struct static_table *table);

/* path is normalised. *ret_file is set for STATIC_FILE only. */
enum static_kind static_table_find(const struct static_table *table, cg_str path,
                                   const struct static_file **ret_file);
const struct static_file *static_table_not_found(const struct static_table *table); /* 404.html, or NULL */

size_t static_table_count(const struct static_table *table);   /* files */
uint64_t static_table_bytes(const struct static_table *table); /* of their content */
const char *
static_table_warnings(const struct static_table *table); /* lines, each ended by \n; "" when none */

#endif
