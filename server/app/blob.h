/* Bytes that several tables share, with the entity tag that they make. Counted by the one thread that builds
   tables; others only read. */
#ifndef APP_BLOB_H
#define APP_BLOB_H

#include <stddef.h>

struct blob {
    size_t refs;
    char *bytes; /* terminated by a NUL that is not counted */
    size_t len;
    char etag[25]; /* quoted: 128 bits of a hash */
};

/* With one reference, the caller's. bytes (from malloc, with its NUL) are taken over. */
struct blob *blob_create(char *bytes, size_t len);
struct blob *blob_keep(struct blob *blob); /* one reference more; NULL stays NULL */
void blob_drop(struct blob *blob);         /* frees with the last one */

#endif
