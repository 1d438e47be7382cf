#include "http/static_disk.h"

#include "base/file.h"
#include "http/app.h"
#include "parse/date.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_NONBLOCK: should it have become a FIFO by now, it must not hold us up. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Links may lead anywhere, but not out of the folder. */
static int open_below(const char *dir, const char *path)
{
    struct open_how how = {.flags = FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    long fd = syscall(SYS_openat2, folder, path + strlen(dir) + 1, &how, sizeof how);
    int result = fd < 0 ? -errno : (int)fd;
    close(folder);
    return result;
}

/* The file that the table knows has been found to be inside; only one that took its place has to prove it. */
static int open_file(const char *dir, const struct static_file *file, struct stat *ret_stat)
{
    int fd = open(file->disk_path, FLAGS);
    if (fd < 0)
        return -errno;
    if (fstat(fd, ret_stat) == 0 && S_ISREG(ret_stat->st_mode) && file_is_same(ret_stat, &file->stat))
        return fd;
    close(fd);
    fd = open_below(dir, file->disk_path);
    if (fd >= 0 && (fstat(fd, ret_stat) < 0 || !S_ISREG(ret_stat->st_mode))) {
        close(fd);
        fd = -ENOENT;
    }
    return fd;
}

static cg_str make_etag(struct arena *arena, const struct stat *stat)
{
    return arena_printf(arena, "\"%llx-%llx-%llx.%lx\"", (unsigned long long)stat->st_ino,
                        (unsigned long long)stat->st_size, (unsigned long long)stat->st_mtim.tv_sec,
                        (unsigned long)stat->st_mtim.tv_nsec);
}

int static_disk_open(struct request *request, const struct static_file *file,
                     struct representation *ret_representation)
{
    struct representation *to = ret_representation;
    struct arena *arena = &request->arena;
    struct stat *stat = arena_alloc(arena, sizeof *stat);
    int fd = open_file(request->loop->app->settings->public_dir, file, stat);
    if (fd < 0)
        return fd;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    loop_update_date(request->loop);
    char *date = arena_alloc(arena, DATE_SIZE);
    cg_field *fields = arena_alloc(arena, STATIC_FIELDS_MAX * sizeof *fields);
    to->fd = fd;
    to->stat = stat;
    to->size = (uint64_t)stat->st_size;
    to->etag = make_etag(arena, stat);
    /* In the second it was changed in, it may be changed again: its date does not tell which content that
       is. */
    bool dated = stat->st_mtim.tv_sec < request->loop->second;
    to->modified = dated ? stat->st_mtim.tv_sec : STATIC_UNDATED;
    if (dated)
        date_format(to->modified, date);
    to->field_count =
        static_file_fields(file, to->etag, dated ? date : NULL, NULL, fields, &to->field_count_304);
    to->fields = fields;
    return 0;
}
