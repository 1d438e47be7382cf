#include "app/content.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define ATTEMPTS 3

/* Bytes read, at most size; a negative errno. */
static ssize_t read_all(int fd, char *data, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = pread(fd, data + len, size - len, (off_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static bool same_state(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
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
    ssize_t len = read_all(fd, data, size);
    if (len < 0) {
        free(data);
        return (int)len;
    }
    if ((size_t)len != size || fstat(fd, &after) < 0 || !same_state(&before, &after)) {
        free(data);
        return -EAGAIN;
    }
    data[size] = '\0';
    *ret_data = data;
    *ret_stat = before;
    return 0;
}

int content_read(const char *path, uint64_t limit, char **ret_data, struct stat *ret_stat)
{
    int result = -EAGAIN;
    for (int i = 0; i < ATTEMPTS && result == -EAGAIN; i++) {
        /* Anew each time: the name may lead to another file by now. O_NONBLOCK: a FIFO must not hold us up.
         */
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            return -errno;
        result = read_once(fd, limit, ret_data, ret_stat);
        close(fd);
    }
    return result;
}
