/* Bytes of unknown length: in memory up to a bound, beyond it in a nameless temporary file, which goes with
   its descriptor whatever happens to the process. */
#ifndef APP_SPOOL_H
#define APP_SPOOL_H

#include "base/buffer.h"

#include <cloudgate.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SPOOL_FILES_MAX 4096 /* open at once in the process; one more is -EMFILE */

/* Set folder and memory_limit, zero the rest. */
struct spool {
    const char *folder;  /* where files are made */
    size_t memory_limit; /* bytes kept in memory */
    struct buffer memory;
    bool on_disk;
    int fd; /* when on_disk */
    uint64_t len;
    void *map; /* once mapped */
    size_t map_size;
};

/* 0, or a negative errno of the disk (-ENOSPC...): what came before is then still there, what comes now is
   not. */
int spool_write(struct spool *spool, const void *data, size_t len);

/* All bytes, with a NUL behind them; valid until spool_finish. 0, or a negative errno of mmap. */
int spool_bytes(struct spool *spool, cg_str *ret_bytes);

/* Gives the bytes the name path and this mode, whole and at once, replacing what had it. Where path is on
   another file system than folder they are copied. 0 or a negative errno; path is then as it was. */
int spool_keep(struct spool *spool, const char *path, mode_t mode);

void spool_finish(struct spool *spool);

#endif
