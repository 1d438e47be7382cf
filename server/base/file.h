/* Whole files, and whether a file is still the one that was looked at. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The content of a regular file, which others may be writing to, terminated by a NUL that is not counted
   (caller frees); its size is ret_stat->st_size. A negative errno: -EFBIG above limit, -EAGAIN when it was
   changed while it was read (also when tried again at once), -ENOTSUP when it is no regular file, or
   open's. */
int file_read(const char *path, uint64_t limit, char **ret_data, struct stat *ret_stat);

/* The number of bytes read from offset on, fewer than len only where the file ends; a negative errno. */
ssize_t file_read_at(int fd, void *out, size_t len, uint64_t offset);

/* All of it to a blocking descriptor: 0, or a negative errno, and some of it may be written. */
int file_write_all(int fd, const void *data, size_t len);

bool file_is_same(const struct stat *a, const struct stat *b); /* the same inode, whatever its content */
bool file_is_unchanged(const struct stat *a,
                       const struct stat *b); /* the same content too, for all they tell */

#endif
