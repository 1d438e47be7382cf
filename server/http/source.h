/* A body that is not one piece of memory: pieces of memory and of one file, in the order they are sent. */
#ifndef HTTP_SOURCE_H
#define HTTP_SOURCE_H

#include "base/arena.h"

#include <stdint.h>
#include <sys/stat.h>

struct transport;

struct source_piece {
    const char *data; /* NULL: of the file, from offset on */
    uint64_t offset, len;
};

struct source {
    int fd; /* -1: no file */
    struct stat stat;
    uint64_t len; /* of all pieces */
    size_t count;
    struct source_piece *pieces;
};

/* Of the arena, with room for that many pieces. Takes fd over; stat is what it was when the answer was
   begun. */
struct source *source_create(struct arena *arena, size_t pieces, int fd, const struct stat *stat);
void source_finish(const struct source *source); /* closes the file; NULL: nothing */

void source_add(struct source *source, const char *data, uint64_t len);
void source_add_file(struct source *source, uint64_t offset, uint64_t len);

/* len bytes from there on. 0; -EIO when the file is not any more what it was: then nobody may take what was
   sent for the whole. */
int source_read(const struct source *source, uint64_t at, char *out, size_t len);
/* Sends what the transport takes now of the bytes from there on, and returns how many; fewer than there are:
   `writable` will be called. -EIO as above. */
int64_t source_send(const struct source *source, uint64_t at, struct transport *transport);

#endif
