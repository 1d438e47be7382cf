/* The templates under functions/ that one thread has used, kept until the file changes. Not thread-safe. */
#ifndef APP_TEMPLATES_H
#define APP_TEMPLATES_H

#include "app/template.h"

#define TEMPLATE_SIZE_MAX (8u << 20) /* bytes of a file */
#define TEMPLATES_KEPT 256           /* files; one more, and all are read anew */
#define TEMPLATES_LOOK_MS 1000       /* how long a file is trusted to be unchanged */

struct templates;

struct templates *templates_create(void);
void templates_destroy(struct templates *templates);
/* The calling thread's, which go with it. */
struct templates *templates_of_thread(void);

/* file is relative to functions_dir and may not leave it. now_ms is on the monotonic clock. Valid until the
   next call. NULL with errno when there is none: EACCES for a name that leaves functions/, ENOENT, EFBIG,
   ... */
const struct page_template *templates_get(struct templates *templates, const char *functions_dir,
                                          const char *file, int64_t now_ms);

#endif
