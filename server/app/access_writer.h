/* Writes what the loops have to say of their requests to a file, on a thread of its own, so that a slow or
   full disk stops nobody. Each piece is whole lines and is written at the end of the file, whoever else
   writes there. */
#ifndef APP_ACCESS_WRITER_H
#define APP_ACCESS_WRITER_H

#include "base/buffer.h"

#define ACCESS_WAITING_MAX (16u << 20) /* bytes; what comes beyond that is lost, and told of */

struct access_writer;

/* 0, or a negative errno of opening the file. */
int access_writer_open(const char *path, struct access_writer **ret_writer);
/* From any thread; takes the bytes over, and empties lines. */
void access_writer_put(struct access_writer *writer, struct buffer *lines);
/* From any thread: what is put from now on goes to whatever has the path's name by then. */
void access_writer_reopen(struct access_writer *writer);
/* Once all that was put is written. */
void access_writer_close(struct access_writer *writer);

#endif
