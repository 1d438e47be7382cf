#include "config/draft.h"

#include "base/alloc.h"
#include "config/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void draft_init(struct draft *draft)
{
    *draft = (struct draft){.settings = xzalloc(sizeof *draft->settings), .file_name = "apiconfig.yaml"};
    draft->settings->auto_mount = true;
    draft->settings->api_key = cg_bytes("", 0);
    draft->settings->root_origin = draft->settings->auto_mount_origin = draft->settings->api_key_origin =
        "default";
}

void draft_offer(struct draft *draft, enum layer layer, const struct option *option, const char *text,
                 const char *base, const char *origin, const char *subject)
{
    struct offer *offer = &draft->offers[layer][option - options];
    const char *why;
    if (option_read(option, text, base, &draft->settings->arena, &offer->value, &why))
        offer->origin = origin;
    else
        problems_add(&draft->problems, "%s: %s", subject, why);
}

const struct offer *draft_best(const struct draft *draft, enum option_id id)
{
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        if (draft->offers[layer][id].origin != NULL)
            return &draft->offers[layer][id];
    return NULL;
}

void draft_complain(struct draft *draft, int line, const char *format, ...)
{
    va_list args;
    struct buffer text = {0};
    va_start(args, format);
    buffer_vprintf(&text, format, args);
    va_end(args);
    problems_add(&draft->problems, "%s:%d: %s", draft->file_name, line, text.data);
    buffer_finish(&text);
}

void draft_warn(struct draft *draft, const char *format, ...)
{
    struct settings *settings = draft->settings;
    va_list args;
    settings->warnings = arena_extend(&settings->arena, (void *)settings->warnings, settings->warning_count,
                                      &draft->warning_capacity, sizeof *settings->warnings);
    va_start(args, format);
    const char *text = arena_vprintf(&settings->arena, format, args).ptr;
    va_end(args);
    const char **slot = (const char **)&settings->warnings[settings->warning_count++];
    *slot = text;
}

const char *draft_variable(const struct draft *draft, const char *name)
{
    const char *value = getenv(name);
    if (value != NULL && value[0] != '\0')
        return value;
    const struct variable *variable = env_find(&draft->env, name);
    return variable != NULL ? variable->value : NULL;
}

/* What the table of options can't know. */
static const char *default_text(struct draft *draft, enum option_id id)
{
    static const char *const folders[] = {
        [OPTION_PUBLIC] = "public", [OPTION_FUNCTIONS] = "functions", [OPTION_STATE_DIR] = ".cloudgate"};
    struct settings *settings = draft->settings;
    struct stat status;
    if (id != OPTION_PUBLIC && id != OPTION_FUNCTIONS && id != OPTION_STATE_DIR)
        return NULL;
    const char *path = arena_printf(&settings->arena, "%s/%s", settings->root, folders[id]).ptr;
    char *real = id != OPTION_STATE_DIR && stat(path, &status) == 0 ? realpath(path, NULL) : NULL;
    if (real != NULL)
        path = arena_copy(&settings->arena, real, strlen(real)).ptr;
    free(real);
    return path;
}

static const char *use_default(struct draft *draft, const struct option *option)
{
    struct settings *settings = draft->settings;
    struct value value = {0};
    const char *why;
    if (option->fallback != NULL)
        (void)option_read(option, option->fallback, "", &settings->arena, &value, &why);
    else
        value.text = default_text(draft, (enum option_id)(option - options));
    option_store(option, settings, value);
    return "default";
}

static void choose(struct draft *draft)
{
    struct settings *settings = draft->settings;
    const char **origins = arena_alloc(&settings->arena, OPTION_COUNT * sizeof *origins);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct offer *offer = draft_best(draft, (enum option_id)id);
        if (offer != NULL)
            option_store(&options[id], settings, offer->value);
        origins[id] = offer != NULL ? offer->origin : use_default(draft, &options[id]);
    }
    if (settings->ssl && draft_best(draft, OPTION_PORT) == NULL) {
        settings->port = -1;
        origins[OPTION_PORT] = "ssl takes its place";
    }
    settings->functions_link = draft_best(draft, OPTION_FUNCTIONS) != NULL
                                   ? settings->functions_dir
                                   : arena_printf(&settings->arena, "%s/functions", settings->root).ptr;
    settings->allowed_cpus = cpus_allowed("/sys/fs/cgroup", "/proc/self/cgroup");
    if (settings->threads == 0) {
        settings->threads = settings->allowed_cpus < 256 ? settings->allowed_cpus : 256;
        origins[OPTION_THREADS] = arena_printf(&settings->arena, "%d CPU%s allowed", settings->allowed_cpus,
                                               settings->allowed_cpus == 1 ? "" : "s")
                                      .ptr;
    }
    if (settings->pool_threads == 0) {
        settings->pool_threads = settings->threads > 2 ? 4 * (uint64_t)settings->threads : 8;
        origins[OPTION_POOL_THREADS] = "4 for each loop, at least 8";
    }
    settings->origins = origins;
}

/* What no single value shows. */
static void check_together(struct draft *draft)
{
    const struct offer *cert = draft_best(draft, OPTION_SSL_CERT), *key = draft_best(draft, OPTION_SSL_KEY);
    const struct offer *port = draft_best(draft, OPTION_PORT), *ssl_port = draft_best(draft, OPTION_SSL_PORT);
    const struct offer *ssl = draft_best(draft, OPTION_SSL);
    int64_t https = ssl_port != NULL ? ssl_port->value.number : 443;
    if ((cert == NULL) != (key == NULL))
        problems_add(&draft->problems, "%s: SSL_CERT and SSL_KEY belong together, %s is missing",
                     cert != NULL ? cert->origin : key->origin, cert != NULL ? "SSL_KEY" : "SSL_CERT");
    if (ssl != NULL && ssl->value.number && port != NULL && port->value.number == https && https != 0)
        problems_add(&draft->problems, "%s: PORT and SSL_PORT are both %lld", port->origin, (long long)https);
    if (draft->first_private_line != 0 && draft->settings->api_key.len == 0)
        draft_complain(draft, draft->first_private_line,
                       "isPrivate needs a key: set APIKEY in section global");
    if (draft->first_private_line != 0 && !draft->auto_mount_given)
        draft_complain(
            draft, draft->first_private_line,
            "with a private route, say whether functions are also mounted by themselves at /api/NAME, "
            "where nothing protects them: functions: { autoMount: false } (or true)");
}

int draft_finish(struct draft *draft, struct settings **ret_settings, char **ret_error)
{
    struct settings *settings = draft->settings;
    check_together(draft);
    if (draft->problems.count > 0) {
        *ret_error = problems_detach(&draft->problems);
        settings_destroy(settings);
        return -EINVAL;
    }
    choose(draft);
    settings->file_name = draft->file_name;
    settings->variables = draft->env.items;
    settings->variable_count = draft->env.count;
    problems_finish(&draft->problems);
    *ret_settings = settings;
    return 0;
}
