/* A public/ in the scratch folder, and what a request would find in its table. */
#ifndef TESTS_UNIT_SITE_H
#define TESTS_UNIT_SITE_H

#include "app/static_table.h"
#include "base/clock.h"
#include "parse/path.h"
#include "scratch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct static_options options = {.memory = 256 << 20};

/* NULL: nothing has changed since `before`. */
static inline struct static_table *load_after(const struct static_table *before)
{
    struct static_table *table = NULL;
    char *error = NULL;
    free((char *)options.dir);
    options.dir = scratch_path("public");
    int result = static_table_load(&options, before, &table, &error);
    ck_assert_msg(result == 0 || (result == -EALREADY && before != NULL), "%s", error);
    return table;
}

static inline struct static_table *load(void)
{
    return load_after(NULL);
}

/* With all the forms. */
static inline struct static_table *improve(struct static_table *table)
{
    atomic_bool stop = false;
    struct static_table *better = static_table_improve(&options, table, INT64_MAX, &stop);
    if (better == NULL)
        return table;
    ck_assert_ptr_null(static_table_improve(&options, better, INT64_MAX, &stop));
    static_table_destroy(table);
    return better;
}

/* What a request for this URL finds: the content, "->" for a redirect, "404", "400". */
static inline const char *get(const struct static_table *table, const char *url)
{
    char path[256];
    size_t len;
    const struct static_file *file;
    ck_assert_uint_lt(strlen(url), sizeof path);
    if (path_normalise(url, strlen(url), path, &len) < 0)
        return "400";
    switch (static_table_find(table, cg_bytes(path, len), &file)) {
    case STATIC_FILE:
        return file->on_disk ? "on disk" : file->forms[CODING_IDENTITY].data.ptr;
    case STATIC_DIRECTORY:
        return "->";
    default:
        return "404";
    }
}

static inline const struct static_file *find(const struct static_table *table, const char *path)
{
    const struct static_file *file = NULL;
    ck_assert_int_eq(static_table_find(table, cg_string(path), &file), STATIC_FILE);
    return file;
}

static inline void link_to(const char *target, const char *name)
{
    char *path = scratch_path(name);
    ck_assert_int_eq(symlink(target, path), 0);
    free(path);
}

#endif
