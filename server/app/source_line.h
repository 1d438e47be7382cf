/* From an address in a module to its place in the sources, by the debug information that the compiler has
 * left. */
#ifndef APP_SOURCE_LINE_H
#define APP_SOURCE_LINE_H

#include "base/buffer.h"

#include <stddef.h>

struct source_lines;

/* Of the object that fd is open on; NULL: it can't be read. */
struct source_lines *source_lines_open(int fd);
void source_lines_close(struct source_lines *lines);

/* Appends "crash.c:24 in crash" for the byte at that offset from where the object is loaded, or as much of it
   as is known. */
void source_lines_describe(struct source_lines *lines, size_t offset, struct buffer *out);

#endif
