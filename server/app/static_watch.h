/* The thread that keeps the tables of public/ up to date: it looks when the kernel tells of a change
   (inotify) and once in a while besides, makes a new table when something has changed, and compressed forms
   when there is nothing else to do. The tables are its own; users hold and release them. */
#ifndef APP_STATIC_WATCH_H
#define APP_STATIC_WATCH_H

#include "app/static_table.h"

struct static_watch;

/* Both are called on the thread. */
struct static_listener {
    void (*publish)(void *arg, struct static_table *table); /* the table to be used from now on */
    void (*tell)(void *arg, const char *text);              /* lines for the log, each ended by \n */
    void *arg;
};

/* Looks for the first time. options are copied; dir and rules must live on; enter is its own. As
   static_table_load. */
int static_watch_create(const struct static_options *options, int64_t interval_ms,
                        struct static_watch **ret_watch, char **ret_error);
struct static_table *static_watch_table(const struct static_watch *watch); /* the newest; before start */

int static_watch_start(struct static_watch *watch, const struct static_listener *listener); /* 0, -errno */
/* Ends the thread. Tables stay until the watch is destroyed, which is when nobody uses them any more. */
void static_watch_stop(struct static_watch *watch);
void static_watch_destroy(struct static_watch *watch);

#endif
