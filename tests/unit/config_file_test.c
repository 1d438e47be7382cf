#include "config/describe.h"
#include "config/file.h"
#include "config/nearest.h"
#include "parse/method.h"
#include "suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct settings *settings;
static char *told;

/* With the file alone: no flags, no .env. */
static int load(const char *text, bool json)
{
    settings_destroy(settings);
    free(told);
    settings = NULL;
    told = NULL;
    return file_parse_alone(cg_string(text), json, "/nowhere", &settings, &told);
}

static void assert_good(const char *text)
{
    int rc = load(text, false);
    ck_assert_msg(rc == 0, "%s: %s", text, told);
}

static void assert_told(const char *text, const char *error)
{
    ck_assert_msg(load(text, false) < 0, "accepted: %s", text);
    ck_assert_msg(strstr(told, error) != NULL, "%s: %s", text, told);
}

static void teardown(void)
{
    settings_destroy(settings);
    free(told);
}

START_TEST(case_91_numbers)
{
    static const char *const bad[] = {
        "08080", "010",   "0x1F90",  "8_080", "1e3",  "8080.0", "-1",      "70000",
        "",      "\" \"", "8080abc", "+1",    "0o17", "1 000",  "'80 80'", "99999999999999999999",
        "true",  "65536", "\"\"",    "~",     "-0x1", "1,000",  "'-'",     "9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[100];
        snprintf(text, sizeof text, "# line\nport: %s\n", bad[i]);
        assert_told(text, "apiconfig.yaml:2: ");
        ck_assert_ptr_null(strchr(told, '\n')); /* once, and nothing else */
        ck_assert_ptr_nonnull(strstr(told, "port"));
    }
    assert_good("port: 8080\n");
    ck_assert_int_eq(settings->port, 8080);
    assert_good("port: \"8080\"\n");
    ck_assert_int_eq(settings->port, 8080);
    assert_good("port: 0\n");
    ck_assert_int_eq(settings->port, 0);
    assert_good("port: 65535\n");
    ck_assert_int_eq(settings->port, 65535);
    assert_told("port: 08080", "starts with a zero");
    assert_told("port: 70000", "'70000' is out of range (0 to 65535)");
}
END_TEST

START_TEST(case_91_booleans)
{
    static const struct {
        const char *text;
        int value;
    } rows[] = {{"yes", 1},  {"No", 0},   {"on", 1},  {"TRUE", 1},  {"1", 1},
                {"tru", -1}, {"0", 0},    {"off", 0}, {"2", -1},    {"y", -1},
                {"''", -1},  {"'on'", 1}, {"01", -1}, {"false", 0}, {"fals", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100];
        snprintf(text, sizeof text, "verbose: %s\n", rows[i].text);
        int rc = load(text, false);
        ck_assert_msg((rc == 0) == (rows[i].value >= 0), "%s: %s", text, told);
        if (rc == 0)
            ck_assert_msg(settings->verbose == rows[i].value, "%s", text);
    }
}
END_TEST

START_TEST(case_91_sizes_and_durations)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } sizes[] = {{"10MB", 10 << 20},
                 {"10MiB", 10 << 20},
                 {"10m", 10 << 20},
                 {"512k", 512 << 10},
                 {"512", 512},
                 {"1 GiB", 1 << 30},
                 {"7b", 7},
                 {"0", -1},
                 {"1.5MB", -1},
                 {"10 XB", -1},
                 {"010MB", -1},
                 {"-1", -1},
                 {"2GB", INT64_C(2) << 30},
                 {"2TB", -1},
                 {"MB", -1},
                 {"10  MB", -1},
                 {"99999999999TB", -1},
                 {"10MB ", 10 << 20},
                 {"'10MB '", -1},
                 {"9223372036854775807", -1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[100];
        snprintf(text, sizeof text, "body_limit: %s\n", sizes[i].text);
        int rc = load(text, false);
        ck_assert_msg((rc == 0) == (sizes[i].bytes >= 0), "%s: %s", text, told);
        if (rc == 0)
            ck_assert_int_eq((int64_t)settings->body_limit, sizes[i].bytes);
    }
    static const struct {
        const char *text;
        int64_t ms;
    } durations[] = {{"500", 500},    {"500ms", 500}, {"10s", 10000}, {"2m", 120000}, {"1h", 3600000},
                     {"2 m", 120000}, {"10S", 10000}, {"1d", -1},     {"0.5s", -1},   {"010s", -1},
                     {"-1s", -1},     {"25h", -1},    {"0", -1},      {"s", -1}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        char text[100];
        snprintf(text, sizeof text, "idle_timeout: %s\n", durations[i].text);
        int rc = load(text, false);
        ck_assert_msg((rc == 0) == (durations[i].ms >= 0), "%s: %s", text, told);
        if (rc == 0)
            ck_assert_int_eq(settings->idle_timeout, durations[i].ms);
    }
}
END_TEST

START_TEST(case_91_strings_stay_strings)
{
    assert_good("host: no\nglobal: {APIKEY: 1.10}\n");
    ck_assert_str_eq(settings->host, "no");
    ck_assert_str_eq(settings->api_key.ptr, "1.10");
    assert_good("global: {APIKEY: \"null\"}\n");
    ck_assert_str_eq(settings->api_key.ptr, "null");
    assert_good("global: {APIKEY: }\n");
    ck_assert_uint_eq(settings->api_key.len, 0);
}
END_TEST

START_TEST(case_94_unknown_and_misplaced)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"x-a: 1\nprot: 9090\n", "apiconfig.yaml:2: unknown key 'prot', did you mean 'port'?"},
        {"Port: 1\n", "did you mean 'port'?"},
        {"sslPort: 1\n", "did you mean 'ssl_port'?"},
        {"rest: {}\n", "did you mean 'REST'?"},
        {"REST:\n  /a:\n    path: a\n    methd: POST\n",
         "apiconfig.yaml:4: unknown key 'methd', did you mean 'method'?"},
        {"REST:\n  /a: {path: a, method: PSOT}\n",
         "apiconfig.yaml:2: unknown method 'PSOT', did you mean 'POST'?"},
        {"REST:\n  /a: {path: a, method: [GET, BREW]}\n", "unknown method 'BREW' (GET"},
        {"REST:\n  /a: {path: a, isprivate: true}\n", "did you mean 'isPrivate'?"},
        {"global:\n  apikey: x\n", "apiconfig.yaml:2: unknown key 'apikey', did you mean 'APIKEY'?"},
        {"global:\n  ssl: true\n", "apiconfig.yaml:2: 'ssl' does not belong here but at the top level"},
        {"APIKEY: x\n", "'APIKEY' does not belong here but in section global"},
        {"isPrivate: true\n", "but in a route of section REST"},
        {"autoMount: true\n", "but in section functions"},
        {"functions: {automount: true}\n", "did you mean 'autoMount'?"},
        {"REST: {/a: {path: a, port: 1}}\n", "'port' does not belong here but at the top level"},
        {"wholly_unknown_thing: 1\n", "unknown key 'wholly_unknown_thing' at the top level"},
        {"threads: {}\n", "apiconfig.yaml:1: 'threads' must be a single value, not a map"},
        {"port: [80]\n", "'port' must be a single value, not a list"},
        {"REST: [a]\n", "'REST' must be a map, not a list"},
        {"REST: yes\n", "'REST' must be a map, not a single value"},
        {"REST: {/a: [x]}\n", "'/a' must be a map, not a list"},
        {"REST: {/a: {path: {}}}\n", "'path' must be a single value, not a map"},
        {"REST: {/a: {path: a, parametersList: {b: c}}}\n",
         "'parametersList' must be a single value, not a map"},
        {"REST: {/a: {path: a, parametersList: [[b]]}}\n", "a list where a name is expected"},
        {"global: x\n", "'global' must be a map, not a single value"},
        {"functions: [x]\n", "'functions' must be a map, not a list"},
        {"- a\n", "a map of settings is expected, not a list"},
        {"text\n", "a map of settings is expected, not a single value"},
        {"config: other.yaml\n", "names this very file"},
        {"publicFolder: /\npublic: /\n", "given twice, first in apiconfig.yaml:1"},
        {"admin: true\n", "'admin' is not in this version yet"},
        {"global: {compat: true}\n", "'compat' is not in this version yet"},
        {"REST: {/a: {path: a, cache: 5}}\n", "'cache' is not in this version yet"},
        {"REST: {/a: {path: a, mode: pool}}\n", "mode: 'pool' is neither loop nor blocking"},
        {"REST: {/a: {path: a, timeout: 0}}\n", "timeout: '0'"},
        {"global: {cacheDurationForAPI: soon}\n", "cacheDurationForAPI: 'soon' is no duration"},
        {"global: {APIKEY: $argon2id$v=19$x}\n", "not in this version yet"},
        {"ssl_cert: /no/such.pem\n", "ssl_cert: '/no/such.pem'"},
        {"ssl_cert: /dev/null\n", "SSL_KEY is missing"},
        {"ssl: on\nport: 443\n", "PORT and SSL_PORT are both 443"},
        {"host: 'a b'\n", "is no address or host name"},
        {"\"a\\nb\": 1\n", "unknown key 'a?b'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_told(rows[i].text, rows[i].error);
}
END_TEST

START_TEST(all_is_told_at_once)
{
    ck_assert_int_lt(load("prot: 1\nport: 08\nREST:\n  a: {path: a}\n  /b: {path: ../b}\n", false), 0);
    const char *next = told;
    for (int line = 1; line <= 5; line++) {
        if (line == 3)
            continue;
        char begin[40];
        snprintf(begin, sizeof begin, "apiconfig.yaml:%d: ", line);
        ck_assert_msg(strncmp(next, begin, strlen(begin)) == 0, "%s", told);
        next = strchr(next, '\n');
        next = next != NULL ? next + 1 : "";
    }
    struct buffer text = {0};
    for (int i = 0; i < 50; i++)
        buffer_printf(&text, "nonsense%d: 1\n", i);
    ck_assert_int_lt(load(text.data, false), 0);
    ck_assert_ptr_nonnull(strstr(told, "\nand 30 more"));
    buffer_finish(&text);
}
END_TEST

START_TEST(routes_in_full)
{
    assert_good("REST:\n"
                "  x-global: {anything: goes}\n"
                "  /api/hello:\n"
                "  /plain: {}\n"
                "  /api/users/:id: { path: users.so, handler: show, parametersList: [id, \"q x\"], method: "
                "[get, Post],\n"
                "                    bodyLimit: 1MB, x-mine: 1 }\n"
                "  /: {path: a/b/c, method: any, parametersList: \"a, b ,c\", isPrivate: no}\n"
                "  /api/users/:name/x: {path: x}\n");
    ck_assert_uint_eq(settings->route_count, 5);
    const struct route_setting *route = settings->routes;
    ck_assert_str_eq(route[0].pattern.ptr, "/api/hello");
    ck_assert_str_eq(route[0].path.ptr, "hello");
    ck_assert_uint_eq(route[0].methods, 0);
    ck_assert_int_eq(route[0].line, 3);
    ck_assert_str_eq(route[1].path.ptr, "plain");
    ck_assert_str_eq(route[2].path.ptr, "users");
    ck_assert_str_eq(route[2].handler.ptr, "show");
    ck_assert_uint_eq(route[2].methods, 1u << METHOD_GET | 1u << METHOD_POST);
    ck_assert_uint_eq(route[2].parameter_count, 2);
    ck_assert_str_eq(route[2].parameters[1].ptr, "q x");
    ck_assert_uint_eq(route[2].body_limit, 1 << 20);
    ck_assert_str_eq(route[3].path.ptr, "a/b/c");
    ck_assert_uint_eq(route[3].methods, 0);
    ck_assert_uint_eq(route[3].parameter_count, 3);
    ck_assert_str_eq(route[3].parameters[1].ptr, "b");
    ck_assert(!route[3].is_private);
}
END_TEST

START_TEST(routes_refused)
{
    static const struct {
        const char *route, *error;
    } rows[] = {
        {"api/x: {path: x}", "must begin with '/'"},
        {"':x': {path: x}", "must begin with '/'"},
        {"global: {APIKEY: k}", "'global' does not belong here but at the top level"},
        {"/a//b: {path: x}", "an empty segment"},
        {"/a/../b: {path: x}", "'.' and '..'"},
        {"/a/*: {path: x}", "wildcards are not in this version yet"},
        {"/a?b: {path: x}", "once decoded"},
        {"/a%20b: {path: x}", "once decoded"},
        {"\"/a\\x01b\": {path: x}", "once decoded"},
        {"'/:': {path: x}", "needs a name"},
        {"/:a.b: {path: x}", "needs a name"},
        {"/:a/:a: {path: x}", "the same name twice"},
        {"/:a/:b/:c/:d/:e/:f/:g/:h/:i/:j/:k/:l/:m/:n/:o/:p/:q: {path: x}", "too many names"},
        {"/healthz: {path: x}", "the server itself answers there"},
        {"/a/:id: {}", "needs a path"},
        {"/: {}", "names no module"},
        {"/a: {path: /etc/x.so}", "relative to functions/"},
        {"/a: {path: ../x.so}", "below functions/"},
        {"/a: {path: a/../../x}", "below functions/"},
        {"/a: {path: a//x}", "below functions/"},
        {"/a: {path: ./x}", "below functions/"},
        {"/a: {path: .so}", "begin with '.'"},
        {"/a: {path: ''}", "names no module"},
        {"/a: {path: /api/rest/tests/simple.js}", "docs/moving.md"},
        {"/a.js: ", "docs/moving.md"},
        {"/a: {path: x.c}", "'x.so'"},
        {"/a: {path: x, method: []}", "the list is empty"},
        {"/a: {path: x, method: }", "'method' has no value"},
        {"/a: {path: x, handler: a-b}", "no name of a C function"},
        {"/a: {path: x, handler: ''}", "no name of a C function"},
        {"/a: {path: x, parametersList: 'a,,b'}", "an empty name"},
        {"/a: {path: x, parametersList: [a, a]}", "'a' twice"},
        {"/a: {path: x, bodyLimit: 0}", "bodyLimit: '0' is out of range"},
        {"/a: {path: x, isPrivate: maybe}", "'maybe' is neither true nor false"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text, "REST:\n  %s\n", rows[i].route);
        assert_told(text, rows[i].error);
        ck_assert_msg(strncmp(told, "apiconfig.yaml:2: ", 18) == 0, "%s", told);
    }
}
END_TEST

START_TEST(routes_that_overlap)
{
    assert_told("REST:\n  /a/:x: {path: a}\n  /b: {path: b}\n  /a/:y: {path: c}\n",
                "apiconfig.yaml:4: route '/a/:y' matches what '/a/:x' in line 2 does");
    assert_told("REST:\n  /u/:id: {path: a, method: GET}\n  /u/:name: {path: c, method: POST}\n",
                "apiconfig.yaml:3: route '/u/:name' matches what '/u/:id' in line 2 does");
    assert_told("REST:\n  /:x: {path: a}\n  /:y: {path: c}\n  /:z: {path: c}\n",
                "apiconfig.yaml:4: route '/:z' matches what '/:x' in line 2 does");
    assert_told("REST:\n  /u/:id: {path: a, method: GET}\n  /u/:id: {path: c, method: POST}\n", "/u/:id");
    ck_assert_msg(
        load("{\"REST\": {\"/u\": {\"method\": \"GET\"},\n \"/u\": {\"method\": \"POST\"}}}", true) < 0,
        "the same route twice");
    assert_good("REST:\n  /a/:x: {path: a}\n  /a/x: {path: d}\n  /a/:x/: {path: e}\n  /a/:x/:y: {path: f}\n");
}
END_TEST

START_TEST(private_routes)
{
    const char *both =
        "global: {APIKEY: k}\nfunctions: {autoMount: false}\nREST:\n  /a: {path: a, isPrivate: true}\n";
    assert_good(both);
    ck_assert(settings->routes[0].is_private && !settings->auto_mount);
    assert_told("functions: {autoMount: true}\nREST:\n  /a: {path: a, isPrivate: true}\n",
                "apiconfig.yaml:3: isPrivate needs a key");
    assert_told(
        "functions: {autoMount: true}\nglobal: {APIKEY: \"\"}\nREST:\n  /a: {path: a, isPrivate: true}\n",
        "isPrivate needs a key");
    assert_told("global: {APIKEY: k}\nREST:\n  /a: {path: a, isPrivate: true}\n", "autoMount: false");
    assert_good("REST:\n  /a: {path: a, isPrivate: false}\n");
    ck_assert(settings->auto_mount);
}
END_TEST

START_TEST(sections_may_be_empty)
{
    assert_good("global:\nREST:\nfunctions:\nWEBSOCKET: {}\nx-whatever: [1, {port: 08}]\n");
    ck_assert_uint_eq(settings->route_count, 0);
    assert_good("functions: /\n");
    ck_assert_str_eq(settings->functions_dir, "/");
    assert_good("functions: {folder: /, autoMount: no}\n");
    ck_assert_str_eq(settings->functions_dir, "/");
    ck_assert(!settings->auto_mount);
    assert_told("functions: /no/such\n", "functions: '/no/such'");
}
END_TEST

START_TEST(old_files_load)
{
    ck_assert_msg(
        load("{\n\t\"global\": {\"APIKEY\": \"\", \"cacheDurationForStatic\": 5000, \"cacheDurationForAPI\": "
             "1000},\n"
             "\t\"REST\": {\"/api/x\": {\"path\": \"tests\\/x.so\", \"method\": \"GET\", "
             "\"parametersList\": \"\"}},\n\t\"WEBSOCKET\": {}\n}\n",
             true) == 0,
        "%s", told);
    ck_assert_str_eq(settings->routes[0].path.ptr, "tests/x");
    ck_assert_int_eq(settings->routes[0].line, 3);
    ck_assert_int_eq(settings->static_refresh, 5000);
    ck_assert_uint_eq(settings->warning_count, 1);
    ck_assert_str_eq(settings->warnings[0],
                     "apiconfig.yaml:2: cacheDurationForAPI has no effect in this version yet");
}
END_TEST

START_TEST(files)
{
    assert_good(
        "global: {cacheDurationForStatic: 2s}\n"
        "static:\n  cacheControl: { \"/assets/*\": \"max-age=31536000, immutable\", \"*.html\": no-cache }\n"
        "static_memory: 1GB\nis_spa: yes\n");
    ck_assert_int_eq(settings->static_refresh, 2000);
    ck_assert_uint_eq(settings->static_memory, 1 << 30);
    ck_assert(settings->is_spa);
    ck_assert_uint_eq(settings->cache_rule_count, 2);
    ck_assert_str_eq(settings->cache_rules[0].pattern, "/assets/*");
    ck_assert_str_eq(settings->cache_rules[0].value, "max-age=31536000, immutable");
    ck_assert_str_eq(settings->cache_rules[1].pattern, "*.html");
    assert_good("static_refresh: 100\n");
    ck_assert_int_eq(settings->static_refresh, 100);
    assert_told("global: {cacheDurationForStatic: 99}\n", "cacheDurationForStatic: '99' is out of range");
    assert_told("static_refresh: 1s\nglobal: {cacheDurationForStatic: 2s}\n", "given twice");
    assert_good("static:\n");
    ck_assert_int_eq(settings->static_refresh, 5000);
    ck_assert_uint_eq(settings->static_memory, 256 << 20);
    ck_assert(!settings->is_spa);
    assert_good("REST: {/api/x: {compress: no}, /api/y: {compress: yes}, /api/z: }\n");
    ck_assert(settings->routes[0].plain && !settings->routes[1].plain && !settings->routes[2].plain);
    assert_told("static: {cacheControl: {html: no-cache}}\n", "'html' must begin with '/' or '*'");
    assert_told("static: {cacheControl: {/x: \"a\\r\\nb\"}}\n", "can't be the value of a header");
    assert_told("static: {cacheControl: {/x: [1]}}\n", "must be a single value");
    assert_told("static: {cachecontrol: {}}\n", "did you mean 'cacheControl'?");
    assert_told("static: {expires: 1d}\n", "a max-age in cacheControl says the same");
    assert_told("global: {cacheDurationForStatic: soon}\n", "'soon' is no duration such as");
    assert_told("REST: {/api/x: {compress: gzip}}\n", "neither true nor false");
}
END_TEST

START_TEST(variables)
{
    setenv("CFG_TEST", "null", 1);
    setenv("CFG_EMPTY", "", 1);
    unsetenv("CFG_UNSET");
    assert_good("global: {APIKEY: \"${CFG_TEST}-${CFG_UNSET:-a b}${CFG_EMPTY:-}$${X} $1\"}\n"
                "x-not: ${CFG_UNSET}\nport: ${CFG_UNSET:-81}\n");
    ck_assert_str_eq(settings->api_key.ptr, "null-a b${X} $1");
    ck_assert_int_eq(settings->port, 81);
    assert_good("global: {APIKEY: \"${CFG_TEST}\"}\n"); /* is that word, not nothing */
    ck_assert_str_eq(settings->api_key.ptr, "null");
    assert_told("\nport: ${CFG_UNSET}\n", "apiconfig.yaml:2: variable CFG_UNSET is not set");
    assert_told("port: ${CFG_EMPTY}\n", "variable CFG_EMPTY is not set");
    assert_told("port: \"${}\"\n", "is no ${NAME}");
    assert_told("port: \"${A\"\n", "is no ${NAME}");
    assert_told("port: \"${A-B}\"\n", "is no ${NAME}");
    assert_told("port: \"${1A}\"\n", "is no ${NAME}");
    struct buffer text = {0};
    char *value = malloc(60001);
    memset(value, 'x', 60000);
    value[60000] = '\0';
    setenv("CFG_TEST", value, 1);
    buffer_text(&text, "host: \"");
    for (int i = 0; i < 1000; i++)
        buffer_text(&text, "${CFG_TEST}");
    buffer_text(&text, "\"\n");
    assert_told(text.data, "a value of more than 65536 bytes");
    buffer_finish(&text);
    free(value);
}
END_TEST

START_TEST(ports)
{
    assert_good("");
    ck_assert_int_eq(settings->port, 3000);
    assert_good("ssl: yes\n");
    ck_assert_int_eq(settings->port, -1);
    ck_assert_int_eq(settings->ssl_port, 443);
    assert_good("ssl: yes\nport: 80\n");
    ck_assert_int_eq(settings->port, 80);
    assert_good("ssl: no\n");
    ck_assert_int_eq(settings->port, 3000);
}
END_TEST

START_TEST(secrets_are_masked)
{
    assert_good("global: {APIKEY: hunter2}\n");
    char *text = settings_describe(settings);
    ck_assert_ptr_null(strstr(text, "hunter2"));
    ck_assert_ptr_nonnull(strstr(text, "\nglobal.APIKEY = **** (apiconfig.yaml:1)\n"));
    free(text);
}
END_TEST

START_TEST(distances)
{
    ck_assert_uint_eq(edit_distance("", "abc"), 3);
    ck_assert_uint_eq(edit_distance("abc", ""), 3);
    ck_assert_uint_eq(edit_distance("prot", "port"), 1);
    ck_assert_uint_eq(edit_distance("methd", "method"), 1);
    ck_assert_uint_eq(edit_distance("SSL-PORT", "ssl_port"), 0);
    ck_assert_uint_eq(edit_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(edit_distance("a123456789012345678901234567890123456789012345678901234567890123", "a"),
                      SIZE_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config_file");
    TCase *tests = tcase_create("config_file");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, case_91_numbers);
    tcase_add_test(tests, case_91_booleans);
    tcase_add_test(tests, case_91_sizes_and_durations);
    tcase_add_test(tests, case_91_strings_stay_strings);
    tcase_add_test(tests, case_94_unknown_and_misplaced);
    tcase_add_test(tests, all_is_told_at_once);
    tcase_add_test(tests, routes_in_full);
    tcase_add_test(tests, routes_refused);
    tcase_add_test(tests, routes_that_overlap);
    tcase_add_test(tests, private_routes);
    tcase_add_test(tests, sections_may_be_empty);
    tcase_add_test(tests, old_files_load);
    tcase_add_test(tests, files);
    tcase_add_test(tests, variables);
    tcase_add_test(tests, ports);
    tcase_add_test(tests, secrets_are_masked);
    tcase_add_test(tests, distances);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
