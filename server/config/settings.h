/* The settings of one app, complete and checked: what flags, environment, .env, file and defaults add up to
   (highest first). Immutable once made; strings live as long as the settings. */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define ROUTE_PARAMS_MAX 16 /* names in a pattern */

/* What holds for the sockets of a WebSocket route. In a route_setting, 0 is what the options say. */
struct socket_rules {
    const cg_str *origins; /* normalised; none: only that of the site itself */
    size_t origin_count;
    bool any_origin;
    const cg_str *protocols; /* subprotocols that the function speaks */
    size_t protocol_count;
    uint64_t message_limit;              /* bytes of a message, unpacked */
    uint64_t queue_limit;                /* bytes that may wait for a client */
    bool takeover;                       /* compression remembers from one message to the next */
    bool drop;                           /* a slow client loses messages, not its connection */
    int64_t ping_interval, pong_timeout; /* ms */
    int64_t idle_timeout;                /* ms without a message; 0: any */
};

/* One route of the file's REST or WEBSOCKET map. Its pattern begins with '/', has no name twice, and no two
   routes' patterns differ in names alone; a pattern may be in both maps. */
struct route_setting {
    cg_str pattern;           /* "/api/users/:id" */
    cg_str path;              /* of the module below functions/, without ".so": "tests/simple" */
    cg_str handler;           /* name of a CG_HANDLER, or empty */
    uint32_t methods;         /* bit 1u << METHOD_GET and so on; 0: any */
    const cg_str *parameters; /* parametersList */
    size_t parameter_count;
    bool is_private;
    bool plain;          /* answers are never compressed */
    uint64_t body_limit; /* bytes; 0: the global one */
    bool blocking;       /* mode: blocking */
    int64_t timeout;     /* ms; 0: the global one */
    bool is_socket;
    struct socket_rules socket;
    int line; /* in the file */
};

/* For files whose path matches, as fnmatch(3) does: '*' stands for slashes as well. */
struct cache_rule {
    const char *pattern; /* "*.html", or a whole path */
    const char *value;   /* of Cache-Control */
};

struct settings {
    struct arena arena;

    /* The app, as absolute paths. Only root is sure to exist: an app may have nothing to serve. */
    const char *root, *public_dir, *functions_dir, *config_file /* NULL: none */, *state_dir;
    const char *functions_link; /* the same as functions_dir, through links that may be switched */

    const char *host;            /* address or name to bind; NULL, the default: every IPv4 and IPv6 address */
    bool proxy_protocol;         /* connections begin with a PROXY header */
    const char *trusted_proxies; /* networks; NULL: none */
    int port;                    /* plain HTTP; -1: none; 0: any free one. With ssl it redirects to https */
    bool ssl;
    int ssl_port;
    const char *ssl_cert, *ssl_key; /* PEM files; NULL: self-signed */
    bool h2c;                       /* HTTP/2 with prior knowledge on the plain port */
    int threads;                    /* loops, at least 1, as asked for or as the machine allows */
    bool verbose;
    const char *access_log; /* a file; NULL: none */
    int access_log_format;  /* 0 common, 1 combined, 2 json */
    bool server_timing;     /* answers of functions tell how long those took */

    uint64_t static_memory; /* bytes of files kept in memory */
    int64_t static_refresh; /* ms until files are looked at again, when the system tells of no change */
    bool is_spa;            /* index.html answers for paths that nobody knows */
    const struct cache_rule *cache_rules; /* the first that matches wins */
    size_t cache_rule_count;

    uint64_t shm_size;    /* bytes */
    const char *shm_file; /* NULL: memory only */

    uint64_t body_limit;      /* bytes of a request body */
    uint64_t body_memory;     /* bytes of one that are kept in memory; the rest is in a temporary file */
    uint64_t form_parts;      /* of a multipart form */
    uint64_t form_files;      /* of those, files on disk */
    const char *temp_dir;     /* where such files are made */
    uint64_t header_limit;    /* bytes of a request head */
    int64_t header_timeout;   /* ms from a head's first byte to its end */
    int64_t idle_timeout;     /* ms a kept-alive connection may wait for its next request */
    int64_t body_timeout;     /* ms without a byte of a body */
    uint64_t body_min_rate;   /* bytes a second of a body on average; 0: any */
    int64_t write_timeout;    /* ms without a byte taken by the client */
    uint64_t write_min_rate;  /* bytes a second on average that a client has to take; 0: any */
    int64_t min_rate_after;   /* ms before either rate matters; three times that for a small body */
    int64_t timeout;          /* ms that a function on the pool, or one that answers later, may take */
    int64_t loop_timeout;     /* ms that a function may keep its event loop from all else */
    uint64_t pool_threads;    /* at most */
    uint64_t pool_queue;      /* calls that may wait for one of them */
    uint64_t stream_queue;    /* bytes of a stream that may wait for its client */
    uint64_t message_limit;   /* bytes of a WebSocket message */
    int64_t ping_interval;    /* ms until a silent WebSocket is asked for a sign of life */
    int64_t pong_timeout;     /* ms that it has to give one */
    uint64_t max_deferred;    /* answers that may be outstanding: deferred calls per loop */
    int64_t start_timeout;    /* ms; a worker that is not ready by then is killed */
    int64_t stop_delay;       /* ms between the wish to stop and the end of accepting */
    int64_t stop_timeout;     /* ms from there to the end of the stop at most */
    uint64_t crash_limit;     /* crashes of a function within a minute until it is switched off; 0: never */
    int64_t drain_timeout;    /* ms for a worker that was replaced */
    bool auto_reload;         /* functions and certificates that change */
    bool watch;               /* sources, config and .env as well */
    uint64_t max_connections; /* per loop */

    cg_str api_key; /* empty: none */
    bool auto_mount;
    const struct route_setting *routes;
    size_t route_count;

    const char *const *warnings; /* to be logged once, a line each; no reason to stop */
    size_t warning_count;

    /* What settings_describe and settings_export_env need. */
    const char *const *origins; /* of each option, in their order */
    const char *root_origin, *auto_mount_origin, *api_key_origin;
    const char *file_name; /* of config_file, as messages call it */
    int allowed_cpus;
    const struct variable *variables; /* of .env */
    size_t variable_count;
};

void settings_destroy(struct settings *settings);

/* Puts the variables of .env into the process's environment, where functions look for theirs; one that is
   there already stays. Only after the last settings_load of a process and of those it will exec, or they
   would take the values for the environment's own. Not thread-safe. */
void settings_export_env(const struct settings *settings);

#endif
