/* Whether the files that a worker was made of have changed since. They are looked at again and again: that
   sees whatever an editor, a compiler, rsync or a switched link does, on any file system. */
#ifndef PROCESS_CHANGES_H
#define PROCESS_CHANGES_H

#include "config/settings.h"

#define CHANGES_LOOK_MS 250     /* between two looks... */
#define CHANGES_WATCH_MS 50     /* ...with WATCH */
#define CHANGES_SETTLE_MS 200   /* that files have to be left alone, so that none is taken half-written... */
#define CHANGES_LONGEST_MS 2000 /* ...unless somebody writes all the time */

/* One set of files. */
struct changes {
    uint64_t taken; /* what the worker was made of */
    uint64_t seen;  /* at the last look */
    int64_t since;  /* has it been so; monotonic ms */
    int64_t begun;  /* when it stopped to be what was taken */
};

enum changes_of {
    CHANGES_OF_MODULES = 1, /* functions, and certificates */
    CHANGES_OF_CONFIG = 2,  /* config file and .env */
    CHANGES_OF_SOURCES = 4, /* of functions */
};

/* A number that is another one whenever one of those files is. */
uint64_t changes_fingerprint(const struct settings *settings, unsigned of);

/* From now on what is there counts as taken. */
void changes_take(struct changes *changes, uint64_t fingerprint, int64_t now);
/* True: it is something else than what was taken, and has settled. */
bool changes_see(struct changes *changes, uint64_t fingerprint, int64_t now);

#endif
