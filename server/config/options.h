/* The one table of settings with a single value each. From it come flags (--ssl-port), variables (SSL_PORT,
   CLOUDGATE_SSL_PORT), keys of the file (ssl_port) and what `cloudgate check` prints. */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include "base/buffer.h"
#include "config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_id {
    OPTION_HOST,
    OPTION_PORT,
    OPTION_THREADS,
    OPTION_TRUSTED_PROXIES,
    OPTION_PROXY_PROTOCOL,
    OPTION_SSL,
    OPTION_SSL_PORT,
    OPTION_SSL_CERT,
    OPTION_SSL_KEY,
    OPTION_H2C,
    OPTION_PUBLIC,
    OPTION_FUNCTIONS,
    OPTION_CONFIG,
    OPTION_STATE_DIR,
    OPTION_STATIC_MEMORY,
    OPTION_STATIC_REFRESH,
    OPTION_IS_SPA,
    OPTION_SHM_SIZE,
    OPTION_SHM_FILE,
    OPTION_BODY_LIMIT,
    OPTION_BODY_MEMORY,
    OPTION_FORM_PARTS,
    OPTION_FORM_FILES,
    OPTION_TMPDIR,
    OPTION_HEADER_LIMIT,
    OPTION_HEADER_TIMEOUT,
    OPTION_IDLE_TIMEOUT,
    OPTION_BODY_TIMEOUT,
    OPTION_BODY_MIN_RATE,
    OPTION_WRITE_TIMEOUT,
    OPTION_WRITE_MIN_RATE,
    OPTION_MIN_RATE_AFTER,
    OPTION_TIMEOUT,
    OPTION_LOOP_TIMEOUT,
    OPTION_POOL_THREADS,
    OPTION_POOL_QUEUE,
    OPTION_MAX_DEFERRED,
    OPTION_STREAM_QUEUE,
    OPTION_MESSAGE_LIMIT,
    OPTION_PING_INTERVAL,
    OPTION_PONG_TIMEOUT,
    OPTION_START_TIMEOUT,
    OPTION_STOP_DELAY,
    OPTION_STOP_TIMEOUT,
    OPTION_DRAIN_TIMEOUT,
    OPTION_CRASH_LIMIT,
    OPTION_AUTO_RELOAD,
    OPTION_WATCH,
    OPTION_MAX_CONNECTIONS,
    OPTION_ACCESS_LOG,
    OPTION_ACCESS_LOG_FORMAT,
    OPTION_SERVER_TIMING,
    OPTION_VERBOSE,
    OPTION_COUNT
};

enum option_kind {
    OPTION_NUMBER,   /* int */
    OPTION_LARGE,    /* uint64_t */
    OPTION_BOOL,     /* bool */
    OPTION_SIZE,     /* uint64_t, bytes */
    OPTION_DURATION, /* int64_t, ms; 0, where min is, or at least 100 */
    OPTION_FORMAT,   /* int: of an access log, as enum access_format */
    OPTION_ADDRESS,  /* const char *, NULL for every address */
    OPTION_NETWORKS, /* const char *, as networks_parse takes it; NULL for none */
    OPTION_PATH,     /* const char *, absolute; what it names may be missing */
    OPTION_FILE,     /* the same, must be there */
    OPTION_FOLDER,   /* the same, links resolved */
};

struct option {
    const char *name; /* of the variable */
    const char *key;  /* of the file */
    enum option_kind kind;
    size_t offset; /* of its member in struct settings */
    int64_t min, max;
    const char *fallback; /* the default, as one would write it; NULL: settings.c knows it */
    const char *old_name; /* of its flag, and key, in earlier servers */
    char letter;          /* its short flag */
    const char *help;     /* one line, for people */
};

extern const struct option options[OPTION_COUNT];

struct value {
    int64_t number;
    const char *text;
};

/* NULL when there is none. A flag's name is taken in any case, with or without '-' and '_'. */
const struct option *option_of_key(const char *key);
const struct option *option_of_flag(const char *name);
const struct option *option_of_letter(char letter);

/* Reads what somebody wrote; base is the folder that paths are relative to. When it is bad, false, and
 *ret_why (in the arena) says so: "'080' is no whole number in decimal (0..65535)". */
bool option_read(const struct option *option, const char *text, const char *base, struct arena *arena,
                 struct value *ret_value, const char **ret_why);

void option_store(const struct option *option, struct settings *settings, struct value value);
/* In another place of the option's type. */
void option_store_at(const struct option *option, void *member, struct value value);
void option_print(const struct option *option, const struct settings *settings, struct buffer *out);

#endif
