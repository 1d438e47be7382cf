/* The fields and files of a multipart form, taken as they arrive: small ones in memory, large ones on
   disk. */
#ifndef APP_FORM_H
#define APP_FORM_H

#include "app/spool.h"
#include "base/arena.h"
#include "parse/multipart.h"

/* Bytes of a file kept in memory, as long as the form's budget lasts. */
#define FORM_FILE_MEMORY (64 * 1024)
#define FORM_DISK (-1)

struct form;

struct form_limits {
    size_t parts;
    size_t files;       /* on disk; each holds a descriptor until the request ends */
    size_t memory;      /* bytes that all parts together may keep in memory, their names included */
    const char *folder; /* for the files beyond it */
};

/* 0, or -400 or -415 as multipart_boundary. What is returned lives in the arena, except for what form_destroy
   frees. */
int form_create(struct arena *arena, cg_str content_type, const struct form_limits *limits,
                struct form **ret_form);
void form_destroy(struct form *form);

/* 0, a negated HTTP status (-400, -413), or FORM_DISK: form_error tells what the disk said. */
int form_feed(struct form *form, const char *data, size_t len);
int form_end(struct form *form, cg_fields *ret_fields, cg_files *ret_files);
int form_error(const struct form *form); /* negative errno */

/* The bytes behind a file that form_end has returned; NULL for any other. */
struct spool *form_spool(const struct form *form, const cg_file *file);

#endif
