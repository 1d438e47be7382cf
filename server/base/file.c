#include "base/file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define ATTEMPTS 3

ssize_t file_read_at(int fd, void *out, size_t len, uint64_t offset)
{
    size_t done = 0;
    while (done < len) {
        ssize_t got = pread(fd, (char *)out + done, len - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static int read_once(int fd, uint64_t limit, char **ret_data, struct stat *ret_stat)
{
    struct stat before, after;
    if (fstat(fd, &before) < 0)
        return -errno;
    if (!S_ISREG(before.st_mode))
        return -ENOTSUP;
    if ((uint64_t)before.st_size > limit)
        return -EFBIG;
    size_t size = (size_t)before.st_size;
    char *data = xalloc(size + 1);
    ssize_t len = file_read_at(fd, data, size, 0);
    if (len < 0) {
        free(data);
        return (int)len;
    }
    if ((size_t)len != size || fstat(fd, &after) < 0 || !file_is_unchanged(&before, &after)) {
        free(data);
        return -EAGAIN;
    }
    data[size] = '\0';
    *ret_data = data;
    *ret_stat = before;
    return 0;
}

int file_read(const char *path, uint64_t limit, char **ret_data, struct stat *ret_stat)
{
    int result = -EAGAIN;
    for (int i = 0; i < ATTEMPTS && result == -EAGAIN; i++) {
        /* Anew each time: the name may lead to another file by now. O_NONBLOCK: a FIFO must not hold us
           up. */
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            return -errno;
        result = read_once(fd, limit, ret_data, ret_stat);
        close(fd);
    }
    return result;
}

int file_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? -errno : -EIO;
        at += put;
        len -= (size_t)put;
    }
    return 0;
}

bool file_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Not by the status change: that also tells of a new name or owner. */
bool file_is_unchanged(const struct stat *a, const struct stat *b)
{
    return file_is_same(a, b) && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}
