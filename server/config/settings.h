/* The settings of one app, complete and checked: what flags, environment, .env, file and defaults add up to
   (highest first). Immutable once made; strings live as long as the settings. */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_COUNT /* also: one that is none of these */
};

/* One route of the file's REST map. */
struct route_setting {
    cg_str pattern;           /* "/api/users/:id" */
    cg_str path;              /* of the module below functions/, without ".so": "tests/simple" */
    cg_str handler;           /* name of a CG_HANDLER, or empty */
    uint32_t methods;         /* bit 1u << METHOD_GET and so on; 0: any */
    const cg_str *parameters; /* parametersList */
    size_t parameter_count;
    bool is_private;
    uint64_t body_limit; /* bytes; 0: the global one */
    int line;            /* in the file */
};

struct settings {
    struct arena arena;

    /* The app, as absolute paths. */
    const char *root, *public_dir, *functions_dir, *config_file /* NULL: none */, *state_dir;

    const char *host; /* address to bind; default: every IPv4 and IPv6 address */
    int port;         /* plain HTTP; -1: none; 0: any free one. With ssl it redirects to https */
    bool ssl;
    int ssl_port;
    const char *ssl_cert, *ssl_key; /* PEM files; NULL: self-signed */
    int threads;                    /* loops, at least 1, as asked for or as the machine allows */
    bool verbose;

    uint64_t shm_size;    /* bytes */
    const char *shm_file; /* NULL: memory only */

    uint64_t body_limit;      /* bytes of a request body */
    uint64_t header_limit;    /* bytes of a request head */
    int64_t header_timeout;   /* ms from a head's first byte to its end */
    int64_t idle_timeout;     /* ms a kept-alive connection may wait for its next request */
    int64_t body_timeout;     /* ms without a byte of a body */
    int64_t write_timeout;    /* ms without a byte taken by the client */
    int64_t stop_delay;       /* ms between the wish to stop and the end of accepting */
    int64_t stop_timeout;     /* ms a stop takes at most */
    uint64_t max_connections; /* per loop */

    cg_str api_key; /* empty: none */
    bool auto_mount;
    const struct route_setting *routes;
    size_t route_count;
};

/* Where a command line ends up: verb and settings. argv as main has it, without the verb. Fatal problems are
 *told in ret_error (caller frees): one line each, naming the origin ("apiconfig.yaml:7: unknown key 'prot',
 *did you mean 'port'?"). */
int settings_load(int argc, char *const argv[], struct settings **ret_settings, char **ret_error);
void settings_destroy(struct settings *settings);

/* Every value with its origin, one a line, for `cloudgate check`. Secrets are masked. Caller frees. */
char *settings_describe(const struct settings *settings);

#endif
