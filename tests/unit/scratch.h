/* A folder for one test: files in it, and modules compiled into it. Its paths are as long as the test's
 * child. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include "app/build.h"
#include "base/alloc.h"
#include "base/buffer.h"

#include <check.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *scratch; /* absolute, without links */

static inline char *scratch_path(const char *name)
{
    return xsprintf("%s/%s", scratch, name);
}

/* Makes the folders above as well. */
static inline void scratch_write(const char *name, const void *data, size_t len)
{
    char *path = scratch_path(name);
    for (char *slash = path + strlen(scratch) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_msg(file != NULL, "%s", path);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
    free(path);
}

static inline void scratch_text(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}

/* Compiles source to the module functions/NAME.so. */
static inline void scratch_module(const char *name, const char *source)
{
    char *file = xsprintf("functions/%s.c", name), *text = xsprintf("#include <cloudgate.h>\n%s\n", source);
    scratch_text(file, text);
    char *command = xsprintf("cc -std=gnu11 -w -shared -fPIC -I'%s' -o '%s/functions/%s.so' '%s/%s'", scratch,
                             scratch, name, scratch, file);
    ck_assert_int_eq(system(command), 0);
    free(command);
    free(text);
    free(file);
}

static inline void scratch_setup(void)
{
    char path[] = "/tmp/cloudgate-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(path));
    scratch = realpath(path, NULL);
    ck_assert_ptr_nonnull(scratch);
    scratch_write("cloudgate.h", build_header, build_header_size);
}

static inline int scratch_unlink(const char *path, const struct stat *stat, int type, struct FTW *place)
{
    (void)stat;
    (void)type;
    (void)place;
    return remove(path);
}

static inline void scratch_teardown(void)
{
    (void)nftw(scratch, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
    free(scratch);
    scratch = NULL;
}

#endif
