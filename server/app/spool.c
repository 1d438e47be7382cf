#include "app/spool.h"

#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_TMPFILE never has a name; where the file system does not know it, a name lives for two calls. */
static int open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd < 0 ? -errno : fd;
    char *path = xsprintf("%s/cloudgate-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    int error = fd < 0 ? -errno : 0;
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd < 0 ? error : fd;
}

/* Of all spools of the process, counted when one opens its file and when it closes it. */
static atomic_int files_open;

static int open_counted(const char *folder)
{
    if (atomic_fetch_add(&files_open, 1) >= SPOOL_FILES_MAX) {
        atomic_fetch_sub(&files_open, 1);
        return -EMFILE;
    }
    int fd = open_nameless(folder);
    if (fd < 0)
        atomic_fetch_sub(&files_open, 1);
    return fd;
}

static void close_counted(int fd)
{
    close(fd);
    atomic_fetch_sub(&files_open, 1);
}

static int move_to_disk(struct spool *spool)
{
    int fd = open_counted(spool->folder);
    if (fd < 0)
        return fd;
    int error = file_write_all(fd, spool->memory.data, spool->memory.len);
    if (error != 0) {
        close_counted(fd);
        return error;
    }
    spool->fd = fd;
    spool->on_disk = true;
    buffer_finish(&spool->memory);
    return 0;
}

int spool_write(struct spool *spool, const void *data, size_t len)
{
    if (!spool->on_disk && spool->memory.len + len <= spool->memory_limit) {
        buffer_append(&spool->memory, data, len);
        spool->len += len;
        return 0;
    }
    int error = spool->on_disk ? 0 : move_to_disk(spool);
    if (error == 0)
        error = file_write_all(spool->fd, data, len);
    if (error == 0)
        spool->len += len;
    return error;
}

/* The file is laid over anonymous memory of one byte more, so that a NUL follows also where a page ends with
   it. */
static int map(struct spool *spool)
{
    size_t size = (size_t)spool->len + 1;
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return -errno;
    if (mmap(room, (size_t)spool->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
             spool->fd, 0) == MAP_FAILED) {
        int error = -errno;
        munmap(room, size);
        return error;
    }
    spool->map = room;
    spool->map_size = size;
    return 0;
}

int spool_bytes(struct spool *spool, cg_str *ret_bytes)
{
    if (spool->on_disk && spool->map == NULL) {
        int error = map(spool);
        if (error != 0)
            return error;
    }
    const char *bytes = spool->on_disk ? spool->map : spool->memory.data;
    *ret_bytes = cg_bytes(bytes ? bytes : "", (size_t)spool->len);
    return 0;
}

/* link(2) never replaces, rename(2) does: so a name of its own first. */
static int link_at(int fd, const char *temporary)
{
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

static int copy_file(int fd, uint64_t len, int out)
{
    off_t from = 0;
    while ((uint64_t)from < len) {
        ssize_t sent = sendfile(out, fd, &from, (size_t)(len - (uint64_t)from));
        if (sent <= 0)
            return sent < 0 ? -errno : -EIO;
    }
    return 0;
}

static int copy_to(const struct spool *spool, const char *temporary)
{
    int out = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0)
        return -errno;
    int error = spool->on_disk ? copy_file(spool->fd, spool->len, out)
                               : file_write_all(out, spool->memory.data, spool->memory.len);
    if (close(out) != 0 && error == 0)
        error = -errno;
    if (error != 0)
        unlink(temporary);
    return error;
}

int spool_keep(struct spool *spool, const char *path, mode_t mode)
{
    char temporary[PATH_MAX];
    static _Atomic unsigned number;
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%d-%u~", path, (int)getpid(), number++) >=
        sizeof temporary)
        return -ENAMETOOLONG;
    int error = spool->on_disk ? link_at(spool->fd, temporary) : -EXDEV;
    if (error == -EXDEV || error == -ENOENT || error == -EPERM || error == -EACCES)
        error = copy_to(spool, temporary);
    if (error != 0)
        return error;
    if (chmod(temporary, mode) != 0 || rename(temporary, path) != 0) {
        error = -errno;
        unlink(temporary);
    }
    return error;
}

void spool_finish(struct spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->map != NULL)
        munmap(spool->map, spool->map_size);
    if (spool->on_disk)
        close_counted(spool->fd);
    buffer_finish(&spool->memory);
    *spool = (struct spool){.folder = spool->folder, .memory_limit = spool->memory_limit};
}
