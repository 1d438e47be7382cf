/* What all loops of a worker share, immutable once they run. */
#ifndef HTTP_APP_H
#define HTTP_APP_H

#include "app/modules.h"
#include "app/router.h"
#include "config/settings.h"
#include "parse/network.h"

struct access_writer;
struct pool;

struct app {
    const struct settings *settings;
    struct modules modules;
    struct router *router;
    struct network trusted[NETWORKS_MAX]; /* proxies */
    size_t trusted_count;
    struct access_writer *access; /* log; NULL: none */
    struct pool *pool;            /* for functions that block */
    int ssl_port;                 /* as bound */
};

#endif
