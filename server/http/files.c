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

static void adopt(struct mail *mail)
{
    struct files *files = list_item(mail, struct files, mail);
    files_unpin(files->loop->files);
    files->loop->files = files;
}

void files_offer(struct loop *loop, struct static_table *table)
{
    struct files *files = create(loop, table);
    files->mail.run = adopt;
    mailbox_post(&loop->mailbox, &files->mail);
}
