/* How the loops share the tables of public/: each holds the newest it was told of, and a request holds the
   one that its answer is made of. Counting is the loop's own business until nobody there needs a table any
   more, so a request costs no atomic operation. */
#ifndef HTTP_FILES_H
#define HTTP_FILES_H

#include "app/static_table.h"
#include "base/mailbox.h"

struct loop;

/* One loop's hold on a table. */
struct files {
    struct static_table *table;
    struct loop *loop;
    struct mail mail;
    size_t pins; /* requests, and one for being the loop's newest */
};

/* What the loop begins with; before it runs. */
void files_begin(struct loop *loop, struct static_table *table);
/* From another thread: the loop adopts the table between two requests. */
void files_offer(struct loop *loop, struct static_table *table);

static inline struct files *files_pin(struct files *files)
{
    files->pins++;
    return files;
}

void files_unpin(struct files *files); /* NULL: nothing */

#endif
