/* What all loops of a worker share, immutable once they run. */
#ifndef HTTP_APP_H
#define HTTP_APP_H

#include "app/modules.h"
#include "app/router.h"
#include "config/settings.h"

struct pool;

struct app {
    const struct settings *settings;
    struct modules modules;
    struct router *router;
    struct pool *pool; /* for functions that block */
    int ssl_port;      /* as bound */
};

#endif
