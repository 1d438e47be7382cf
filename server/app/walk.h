/* A walk through all that lies below a folder, in byte order of the names. Links are followed; one that leads
   to a folder above itself is a loop and is passed over. */
#ifndef APP_WALK_H
#define APP_WALK_H

#include <stdbool.h>
#include <sys/stat.h>

#define WALK_MAX_DEPTH 64 /* folders inside each other; deeper ones are passed over */

struct walk_entry {
    const char *path;        /* to open it with: root and name joined */
    const char *name;        /* below root: "tests/simple.c" */
    const char *base;        /* the last part, inside of name */
    const struct stat *stat; /* of what a link leads to; NULL when there is an error */
    bool outside;            /* a link that leads out of root */
    int error;               /* errno: it can't be looked at, or its entries can't */
};

enum walk_result {
    WALK_ON,
    WALK_SKIP /* of a folder: do not enter it */
};

typedef enum walk_result walk_visit(void *arg, const struct walk_entry *entry);

/* Calls visit for each entry, a folder before what is in it. 0, or a negative errno when root can't be
   read. */
int walk(const char *root, walk_visit *visit, void *arg);

/* name ends in suffix and has something before it. */
bool walk_ends_in(const char *name, const char *suffix);

#endif
