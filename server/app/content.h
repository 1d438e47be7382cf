/* Reading a whole file that others may be writing to. */
#ifndef APP_CONTENT_H
#define APP_CONTENT_H

#include <stdint.h>
#include <sys/stat.h>

/* The content of a regular file, terminated by a NUL that is not counted (caller frees); its size is
   ret_stat->st_size. A negative errno: -EFBIG above limit, -EAGAIN when it was changed while it was read
   (also when tried again at once), -ENOTSUP when it is no regular file, or open's. */
int content_read(const char *path, uint64_t limit, char **ret_data, struct stat *ret_stat);

#endif
