#include "http/files.h"

#include "base/alloc.h"
#include "http/loop.h"

#include <stdlib.h>

static struct files *create(struct loop *loop, struct static_table *table)
{
    struct files *files = xalloc(sizeof *files);
    *files = (struct files){.table = table, .loop = loop, .pins = 1};
    static_table_hold(table);
    return files;
}

void files_unpin(struct files *files)
{
    if (files == NULL || --files->pins > 0)
        return;
    static_table_release(files->table);
    free(files);
}

void files_begin(struct loop *loop, struct static_table *table)
{
    loop->files = create(loop, table);
}

static void adopt(void *arg)
{
    struct files *files = arg;
    files_unpin(files->loop->files);
    files->loop->files = files;
}

int files_offer(struct loop *loop, struct static_table *table)
{
    struct files *files = create(loop, table);
    int error = mailbox_post(&loop->mailbox, adopt, files);
    if (error != 0)
        files_unpin(files);
    return error;
}
