#include "config/options.h"
#include "parse/network.h"

#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define DAY (INT64_C(24) * 60 * 60 * 1000)
#define DURATION_MIN 100 /* ms; less is not meant: somebody took the number for seconds */

#define AT(member) .offset = offsetof(struct settings, member)
#define RANGE(low, high) .min = (low), .max = (high)

const struct option options[OPTION_COUNT] = {
    [OPTION_HOST] = {"HOST", "host", OPTION_ADDRESS, AT(host),
                     .help = "address or name to listen on; `*`, the default, is every address"},
    [OPTION_PORT] =
        {"PORT", "port", OPTION_NUMBER, AT(port), RANGE(0, 65535), .fallback = "3000", .letter = 'p',
         .help =
             "port for http; 0 takes a free one. With SSL: none unless set, and then it redirects to https"},
    [OPTION_THREADS] = {"THREADS", "threads", OPTION_NUMBER, AT(threads), RANGE(0, 256), .fallback = "0",
                        .old_name = "cores", .letter = 'c',
                        .help = "event loops; 0 is one for each CPU that the process may use"},
    [OPTION_TRUSTED_PROXIES] =
        {"TRUSTED_PROXIES", "trusted_proxies", OPTION_NETWORKS, AT(trusted_proxies),
         .help = "networks, as in 10.0.0.0/8, whose X-Forwarded-For is believed; with commas"},
    [OPTION_PROXY_PROTOCOL] =
        {"PROXY_PROTOCOL", "proxy_protocol", OPTION_BOOL, AT(proxy_protocol), .fallback = "0",
         .help = "each connection begins with a PROXY header, of version 1 or 2, that tells who "
                 "the client is; only behind a balancer that sends it"},
    [OPTION_SSL] = {"SSL", "ssl", OPTION_BOOL, AT(ssl), .fallback = "0",
                    .help = "https: TLS 1.2 and up, HTTP/1.1 and HTTP/2"},
    [OPTION_SSL_PORT] = {"SSL_PORT", "ssl_port", OPTION_NUMBER, AT(ssl_port), RANGE(0, 65535),
                         .fallback = "443", .help = "port for https"},
    [OPTION_SSL_CERT] =
        {"SSL_CERT", "ssl_cert", OPTION_FILE, AT(ssl_cert),
         .help = "PEM file of the certificate and its chain; without one, a self-signed one is made"},
    [OPTION_SSL_KEY] = {"SSL_KEY", "ssl_key", OPTION_FILE, AT(ssl_key), .help = "PEM file of its key"},
    [OPTION_H2C] = {"H2C", "h2c", OPTION_BOOL, AT(h2c), .fallback = "1",
                    .help = "HTTP/2 with prior knowledge on the plain port"},
    [OPTION_PUBLIC] = {"PUBLIC", "public", OPTION_FOLDER, AT(public_dir), .old_name = "publicFolder",
                       .help = "folder of the files that are served; by default DIR/public"},
    [OPTION_FUNCTIONS] = {"FUNCTIONS", "functions", OPTION_FOLDER, AT(functions_dir),
                          .help = "folder of the functions; by default DIR/functions"},
    [OPTION_CONFIG] = {"CONFIG", "config", OPTION_FILE, AT(config_file),
                       .help =
                           "the config file; by default DIR/apiconfig.yaml, .yml or .json, if there is one"},
    [OPTION_STATE_DIR] = {"STATE_DIR", "state_dir", OPTION_PATH, AT(state_dir),
                          .help = "folder where the server writes; by default DIR/.cloudgate"},
    [OPTION_STATIC_MEMORY] = {"STATIC_MEMORY", "static_memory", OPTION_SIZE, AT(static_memory),
                              RANGE(0, 1024 * GIB), .fallback = "256MB",
                              .help = "files kept in memory, compressed forms included; the rest, and any "
                                      "above 8 MB, is sent from disk"},
    [OPTION_STATIC_REFRESH] =
        {"STATIC_REFRESH", "static_refresh", OPTION_DURATION, AT(static_refresh), RANGE(DURATION_MIN, DAY),
         .fallback = "5s",
         .help = "time until files are looked at again, when the system tells of no change"},
    [OPTION_IS_SPA] = {"IS_SPA", "is_spa", OPTION_BOOL, AT(is_spa), .fallback = "0",
                       .help = "index.html answers browsers that ask for a path nobody knows"},
    [OPTION_SHM_SIZE] = {"SHM_SIZE", "shm_size", OPTION_SIZE, AT(shm_size), RANGE(MIB, 64 * GIB),
                         .fallback = "64MB",
                         .help = "shared memory for counters, keys and locks; reserved at start"},
    [OPTION_SHM_FILE] = {"SHM_FILE", "shm_file", OPTION_PATH, AT(shm_file),
                         .help = "file to keep it in, so that it outlives a restart; by default none"},
    [OPTION_BODY_LIMIT] = {"BODY_LIMIT", "body_limit", OPTION_SIZE, AT(body_limit), RANGE(1, 1024 * GIB),
                           .fallback = "64MB",
                           .help = "largest request body; a route's bodyLimit goes before it"},
    [OPTION_BODY_MEMORY] = {"BODY_MEMORY", "body_memory", OPTION_SIZE, AT(body_memory), RANGE(KIB, GIB),
                            .fallback = "1MB",
                            .help = "of a body that is kept in memory, and of all text fields of a form; the "
                                    "rest goes to nameless files in TMPDIR"},
    [OPTION_FORM_PARTS] = {"FORM_PARTS", "form_parts", OPTION_LARGE, AT(form_parts), RANGE(1, 100000),
                           .fallback = "1000", .help = "fields and files of a multipart form"},
    [OPTION_FORM_FILES] = {"FORM_FILES", "form_files", OPTION_LARGE, AT(form_files), RANGE(1, 4096),
                           .fallback = "256",
                           .help = "files of a multipart form that are too large for memory"},
    [OPTION_TMPDIR] = {"TMPDIR", "tmpdir", OPTION_FOLDER, AT(temp_dir), .fallback = "/tmp",
                       .help = "folder for such files"},
    [OPTION_HEADER_LIMIT] = {"HEADER_LIMIT", "header_limit", OPTION_SIZE, AT(header_limit),
                             RANGE(KIB, 64 * KIB), .fallback = "32k", .help = "largest head of a request"},
    [OPTION_HEADER_TIMEOUT] = {"HEADER_TIMEOUT", "header_timeout", OPTION_DURATION, AT(header_timeout),
                               RANGE(DURATION_MIN, DAY), .fallback = "10s",
                               .help = "time from a head's first byte to its end"},
    [OPTION_IDLE_TIMEOUT] = {"IDLE_TIMEOUT", "idle_timeout", OPTION_DURATION, AT(idle_timeout),
                             RANGE(DURATION_MIN, DAY), .fallback = "60s",
                             .help = "time until a connection's next request begins, or its first"},
    [OPTION_BODY_TIMEOUT] = {"BODY_TIMEOUT", "body_timeout", OPTION_DURATION, AT(body_timeout),
                             RANGE(DURATION_MIN, DAY), .fallback = "10s",
                             .help = "longest time without a byte of a body that is due"},
    [OPTION_BODY_MIN_RATE] = {"BODY_MIN_RATE", "body_min_rate", OPTION_SIZE, AT(body_min_rate), RANGE(0, GIB),
                              .fallback = "1k",
                              .help = "bytes a second at which a body has to arrive on average; 0 is any"},
    [OPTION_WRITE_TIMEOUT] = {"WRITE_TIMEOUT", "write_timeout", OPTION_DURATION, AT(write_timeout),
                              RANGE(DURATION_MIN, DAY), .fallback = "30s",
                              .help = "longest time in which the client takes no byte of an answer"},
    [OPTION_WRITE_MIN_RATE] =
        {"WRITE_MIN_RATE", "write_min_rate", OPTION_SIZE, AT(write_min_rate), RANGE(0, GIB), .fallback = "1k",
         .help = "bytes a second at which a client has to take an answer on average; 0 is any"},
    [OPTION_MIN_RATE_AFTER] = {"MIN_RATE_AFTER", "min_rate_after", OPTION_DURATION, AT(min_rate_after),
                               RANGE(0, DAY), .fallback = "10s", .help = "time before either rate matters"},
    [OPTION_TIMEOUT] = {"TIMEOUT", "timeout", OPTION_DURATION, AT(timeout), RANGE(DURATION_MIN, DAY),
                        .fallback = "30s",
                        .help = "time for functions that block and for answers that come later; a route's "
                                "timeout goes before it"},
    [OPTION_LOOP_TIMEOUT] =
        {"LOOP_TIMEOUT", "loop_timeout", OPTION_DURATION, AT(loop_timeout), RANGE(DURATION_MIN, DAY),
         .fallback = "1s",
         .help = "time that a function may keep its event loop from all others before it is cut "
                 "off with 504; a route's timeout goes before it"},
    [OPTION_POOL_THREADS] = {"POOL_THREADS", "pool_threads", OPTION_LARGE, AT(pool_threads), RANGE(0, 1024),
                             .fallback = "0",
                             .help = "threads for functions that block; 0 is 4 for each loop, at least 8"},
    [OPTION_POOL_QUEUE] = {"POOL_QUEUE", "pool_queue", OPTION_LARGE, AT(pool_queue), RANGE(1, 1000000),
                           .fallback = "1000",
                           .help =
                               "calls that may wait for one of these threads; one more is answered with 503"},
    [OPTION_MAX_DEFERRED] = {"MAX_DEFERRED", "max_deferred", OPTION_LARGE, AT(max_deferred),
                             RANGE(1, 1000000), .fallback = "10000",
                             .help = "answers that may be outstanding for each loop"},
    [OPTION_STREAM_QUEUE] =
        {"STREAM_QUEUE", "stream_queue", OPTION_SIZE, AT(stream_queue), RANGE(4096, 1 << 30),
         .fallback = "1MB",
         .help =
             "of a stream or WebSocket that waits for its client; one that falls behind further is cut off"},
    [OPTION_MESSAGE_LIMIT] = {"MESSAGE_LIMIT", "message_limit", OPTION_SIZE, AT(message_limit), RANGE(1, GIB),
                              .fallback = "1MB",
                              .help =
                                  "largest message of a WebSocket; a route's messageLimit goes before it"},
    [OPTION_PING_INTERVAL] = {"PING_INTERVAL", "ping_interval", OPTION_DURATION, AT(ping_interval),
                              RANGE(DURATION_MIN, DAY), .fallback = "30s",
                              .help = "time until a silent WebSocket is asked for a sign of life"},
    [OPTION_PONG_TIMEOUT] = {"PONG_TIMEOUT", "pong_timeout", OPTION_DURATION, AT(pong_timeout),
                             RANGE(DURATION_MIN, DAY), .fallback = "10s",
                             .help = "time that it has to give one"},
    [OPTION_START_TIMEOUT] = {"START_TIMEOUT", "start_timeout", OPTION_DURATION, AT(start_timeout),
                              RANGE(DURATION_MIN, DAY), .fallback = "60s",
                              .help = "time within which a worker has to be ready; else it is killed"},
    [OPTION_STOP_DELAY] = {"STOP_DELAY", "stop_delay", OPTION_DURATION, AT(stop_delay), RANGE(0, DAY),
                           .fallback = "0", .help = "time between the wish to stop and the end of accepting"},
    [OPTION_STOP_TIMEOUT] = {"STOP_TIMEOUT", "stop_timeout", OPTION_DURATION, AT(stop_timeout), RANGE(0, DAY),
                             .fallback = "8s",
                             .help = "time that a stop takes at most; what is unfinished then is cut off"},
    [OPTION_DRAIN_TIMEOUT] = {"DRAIN_TIMEOUT", "drain_timeout", OPTION_DURATION, AT(drain_timeout),
                              RANGE(0, DAY), .fallback = "30s",
                              .help = "time that a worker has to finish what it has begun once a reload has "
                                      "replaced it"},
    [OPTION_CRASH_LIMIT] =
        {"CRASH_LIMIT", "crash_limit", OPTION_LARGE, AT(crash_limit), RANGE(0, 1000000), .fallback = "5",
         .help = "crashes of a function within a minute, after which it is switched off (503) until "
                 "it is built anew; 0 is never"},
    [OPTION_AUTO_RELOAD] = {"AUTO_RELOAD", "auto_reload", OPTION_BOOL, AT(auto_reload), .fallback = "1",
                            .help = "takes up changed functions (.so) and certificates by itself"},
    [OPTION_WATCH] = {"WATCH", "watch", OPTION_BOOL, AT(watch), .fallback = "0", .letter = 'w',
                      .help = "compiles functions that are saved, and takes up the config and .env as well"},
    [OPTION_MAX_CONNECTIONS] = {"MAX_CONNECTIONS", "max_connections", OPTION_LARGE, AT(max_connections),
                                RANGE(1, 1000000), .fallback = "10000",
                                .help = "connections that each loop has at most"},
    [OPTION_ACCESS_LOG] =
        {"ACCESS_LOG", "access_log", OPTION_PATH, AT(access_log),
         .help = "file that gets a line for each request; /dev/stdout is one, too; by default none"},
    [OPTION_ACCESS_LOG_FORMAT] = {"ACCESS_LOG_FORMAT", "access_log_format", OPTION_FORMAT,
                                  AT(access_log_format), .fallback = "combined",
                                  .help = "of these lines: common, combined or json"},
    [OPTION_SERVER_TIMING] = {"SERVER_TIMING", "server_timing", OPTION_BOOL, AT(server_timing),
                              .fallback = "0",
                              .help = "adds a Server-Timing field with the time that a function took"},
    [OPTION_VERBOSE] = {"VERBOSE", "verbose", OPTION_BOOL, AT(verbose), .fallback = "0", .old_name = "debug",
                        .letter = 'd', .help = "logs more"},
};

static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

const struct option *option_of_key(const char *key)
{
    for (const struct option *option = options; option < options + OPTION_COUNT; option++)
        if (strcmp(key, option->key) == 0 || (option->old_name != NULL && strcmp(key, option->old_name) == 0))
            return option;
    return NULL;
}

const struct option *option_of_flag(const char *name)
{
    for (const struct option *option = options; option < options + OPTION_COUNT; option++)
        if (same_name(name, option->name) || (option->old_name != NULL && same_name(name, option->old_name)))
            return option;
    return NULL;
}

const struct option *option_of_letter(char letter)
{
    for (const struct option *option = options; option < options + OPTION_COUNT; option++)
        if (letter != '\0' && option->letter == letter)
            return option;
    return NULL;
}

static const char *const formats[] = {"common", "combined", "json"};

static int format_of(const char *text)
{
    for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
        if (strcmp(text, formats[i]) == 0)
            return i;
    return -1;
}

static const char *say(struct arena *arena, const char *text, const char *what)
{
    return arena_printf(arena, "'%.100s' %s", text, what).ptr;
}

static const char *print_bound(const struct option *option, int64_t number, struct arena *arena)
{
    struct buffer out = {0};
    if (option->kind == OPTION_SIZE)
        value_print_size(&out, number);
    else if (option->kind == OPTION_DURATION)
        value_print_duration(&out, number);
    else
        buffer_printf(&out, "%lld", (long long)number);
    const char *text = arena_copy(arena, out.data, out.len).ptr;
    buffer_finish(&out);
    return text;
}

static const char *why_number(const struct option *option, const char *text, int rc, struct arena *arena)
{
    bool time = option->kind == OPTION_DURATION;
    const char *what = "is no whole decimal number";
    if (rc == -ERANGE)
        what = "is out of range";
    else if (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        what = "starts with a zero; numbers are decimal and have none in front";
    else if (option->kind == OPTION_SIZE)
        what = "is no size such as 512, 64k or 10MB";
    else if (time)
        what = "is no duration such as 500ms, 10s or 2m";
    return arena_printf(arena, "'%.100s' %s (%s%s to %s%s)", text, what,
                        time && option->min == 0 ? "0, or " : "",
                        print_bound(option, time ? DURATION_MIN : option->min, arena),
                        print_bound(option, option->max, arena), time ? "; a number alone is ms" : "")
        .ptr;
}

static bool is_host(const char *text)
{
    static const char others[] = ".:-_%[]";
    for (const char *p = text; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr(others, *p) == NULL)
            return false;
    return strlen(text) <= 255;
}

static const char *read_path(const struct option *option, const char *text, const char *base,
                             struct arena *arena, const char **ret_path)
{
    struct stat status;
    const char *path = text[0] == '/' ? arena_copy(arena, text, strlen(text)).ptr
                                      : arena_printf(arena, "%s/%s", base, text).ptr;
    if (option->kind != OPTION_PATH && stat(path, &status) < 0)
        return arena_printf(arena, "'%.100s': %s: %s", text, path, strerror(errno)).ptr;
    if (option->kind == OPTION_FILE && S_ISDIR(status.st_mode))
        return say(arena, text, "is a folder, not a file");
    if (option->kind == OPTION_FOLDER) {
        if (!S_ISDIR(status.st_mode))
            return say(arena, text, "is no folder");
        char *real = realpath(path, NULL);
        if (real == NULL)
            return arena_printf(arena, "'%.100s': %s: %s", text, path, strerror(errno)).ptr;
        path = arena_copy(arena, real, strlen(real)).ptr;
        free(real);
    }
    *ret_path = path;
    return NULL;
}

static const char *read_networks(const char *text, struct arena *arena, struct value *value)
{
    struct network networks[NETWORKS_MAX];
    cg_str bad;
    int count = networks_parse(text, networks, &bad);
    if (count == -EINVAL)
        return arena_printf(arena, "'%.*s' is no address and no network like 10.0.0.0/8", (int)bad.len,
                            bad.ptr)
            .ptr;
    if (count < 0)
        return arena_printf(arena, "more than %d networks", NETWORKS_MAX).ptr;
    value->text = arena_copy(arena, text, strlen(text)).ptr;
    return NULL;
}

static const char *read_text(const struct option *option, const char *text, const char *base,
                             struct arena *arena, struct value *value)
{
    if (text[0] == '\0')
        return "no value";
    if (option->kind == OPTION_NETWORKS)
        return read_networks(text, arena, value);
    if (option->kind != OPTION_ADDRESS)
        return read_path(option, text, base, arena, &value->text);
    if (strcmp(text, "*") == 0)
        return NULL;
    if (!is_host(text))
        return say(arena, text, "is no address or host name");
    value->text = arena_copy(arena, text, strlen(text)).ptr;
    return NULL;
}

bool option_read(const struct option *option, const char *text, const char *base, struct arena *arena,
                 struct value *ret_value, const char **ret_why)
{
    struct value value = {0};
    const char *why = NULL;
    bool on = false;
    int rc = 0;
    switch (option->kind) {
    case OPTION_NUMBER:
    case OPTION_LARGE:
        rc = value_number(text, option->min, option->max, &value.number);
        break;
    case OPTION_SIZE:
        rc = value_size(text, option->min, option->max, &value.number);
        break;
    case OPTION_DURATION:
        rc = value_duration(text, option->min, option->max, &value.number);
        if (rc == 0 && value.number != 0 && value.number < DURATION_MIN)
            rc = -ERANGE;
        break;
    case OPTION_FORMAT:
        value.number = format_of(text);
        if (value.number < 0)
            why = say(arena, text, "is no format (common, combined or json)");
        break;
    case OPTION_BOOL:
        if (value_bool(text, &on) < 0)
            why = say(arena, text, "is neither yes nor no (1 0, true false, yes no, on off)");
        value.number = on;
        break;
    default:
        why = read_text(option, text, base, arena, &value);
    }
    if (rc < 0)
        why = why_number(option, text, rc, arena);
    if (why != NULL)
        *ret_why = why;
    else
        *ret_value = value;
    return why == NULL;
}

void option_store_at(const struct option *option, void *member, struct value value)
{
    switch (option->kind) {
    case OPTION_NUMBER:
    case OPTION_FORMAT:
        *(int *)member = (int)value.number;
        break;
    case OPTION_BOOL:
        *(bool *)member = value.number != 0;
        break;
    case OPTION_LARGE:
    case OPTION_SIZE:
        *(uint64_t *)member = (uint64_t)value.number;
        break;
    case OPTION_DURATION:
        *(int64_t *)member = value.number;
        break;
    default:
        *(const char **)member = value.text;
    }
}

void option_store(const struct option *option, struct settings *settings, struct value value)
{
    option_store_at(option, (char *)settings + option->offset, value);
}

void option_print(const struct option *option, const struct settings *settings, struct buffer *out)
{
    const void *member = (const char *)settings + option->offset;
    const char *text;
    switch (option->kind) {
    case OPTION_NUMBER:
        buffer_printf(out, "%d", *(const int *)member);
        break;
    case OPTION_FORMAT:
        buffer_text(out, formats[*(const int *)member]);
        break;
    case OPTION_BOOL:
        buffer_text(out, *(const bool *)member ? "yes" : "no");
        break;
    case OPTION_LARGE:
        buffer_printf(out, "%llu", (unsigned long long)*(const uint64_t *)member);
        break;
    case OPTION_SIZE:
        value_print_size(out, (int64_t) * (const uint64_t *)member);
        break;
    case OPTION_DURATION:
        value_print_duration(out, *(const int64_t *)member);
        break;
    default:
        text = *(const char *const *)member;
        buffer_text(out, text != NULL ? text : option->kind == OPTION_ADDRESS ? "*" : "none");
    }
}
