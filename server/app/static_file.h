/* One file of public/ as it is served: immutable, shared by the tables that hold it. */
#ifndef APP_STATIC_FILE_H
#define APP_STATIC_FILE_H

#include "app/blob.h"
#include "app/coding.h"

#include <cloudgate.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define STATIC_FIELDS_MAX 8
#define STATIC_UNDATED INT64_MIN

/* A representation of it (RFC 9110, section 3.2). */
struct static_form {
    cg_str data; /* terminated by a NUL that is not counted */
    cg_str etag; /* quoted, strong: made from data */
    /* Of a 200, without content-length. The first field_count_304 of them are those of a 304. */
    cg_field fields[STATIC_FIELDS_MAX];
    size_t field_count, field_count_304;
    /* Field lines for HTTP/1, each ended by CRLF: the fields above and content-length; those of a 304. */
    cg_str block, block_304;
};

struct static_file {
    cg_str path;               /* "/docs/a b.html" */
    const char *disk_path;     /* to open it with */
    const char *type;          /* value of Content-Type */
    const char *cache_control; /* value of Cache-Control */
    bool varies;               /* by Accept-Encoding: has several forms, or may get them */
    bool on_disk;              /* has no forms: opened, and looked at anew, for each request */
    int64_t modified;          /* s since 1970, never later than the loading; or STATIC_UNDATED */
    char modified_text[30];
    struct static_form forms[CODING_COUNT]; /* one that is not there has an empty block */

    /* For whoever builds tables. */
    size_t refs;
    struct stat stat;                  /* as it was when its content was read */
    struct blob *blobs[CODING_COUNT];  /* of the forms; NULL: there is none */
    struct blob *beside[CODING_COUNT]; /* content of x.gz and x.br when the forms were made */
    int64_t newest_date;               /* the latest `modified` its path ever had */
    bool fresh;                        /* was written to just before it was read: look again */
    bool unseen;                       /* the last look did not find it */
    bool finished;                     /* has all the forms it will get */
};

/* What a file is made of. Everything is copied, blobs get a reference each. */
struct static_file_parts {
    cg_str path;
    const char *disk_path, *cache_control;
    struct stat stat;
    int64_t modified, newest_date;
    struct blob *blobs[CODING_COUNT]; /* no identity: it stays on disk */
    struct blob *beside[CODING_COUNT];
    bool varies, fresh, unseen, finished;
};

/* With one reference, the caller's; counted by the one thread that builds tables. */
struct static_file *static_file_create(const struct static_file_parts *parts);
struct static_file *static_file_keep(struct static_file *file);
void static_file_drop(struct static_file *file);

/* Made of the same, with other forms in it. */
struct static_file *static_file_with(const struct static_file *file, struct blob *const forms[CODING_COUNT]);

/* The fields of an answer with this file; encoding NULL: none; modified NULL: not told. Returns how many.
   Values are those given, so they have to live on. */
size_t static_file_fields(const struct static_file *file, cg_str etag, const char *modified,
                          const char *encoding, cg_field out[STATIC_FIELDS_MAX], size_t *ret_count_304);

uint64_t static_file_bytes(const struct static_file *file); /* in memory */

#endif
