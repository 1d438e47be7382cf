#include "base/buffer.h"
#include "config/describe.h"
#include "config/load.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test runs in a process of its own, in a fresh folder. */
static char dir[] = "/tmp/cloudgate-config.XXXXXX";
static struct settings *settings;
static char *told;

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static int load_args(int argc, char *const argv[])
{
    settings_destroy(settings);
    free(told);
    settings = NULL;
    told = NULL;
    return settings_load(argc, argv, &settings, &told);
}

/* line: the arguments, separated by blanks. */
static int load(const char *line)
{
    char copy[300], *argv[20], *rest = NULL;
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *arg = strtok_r(copy, " ", &rest); arg != NULL; arg = strtok_r(NULL, " ", &rest))
        argv[argc++] = arg;
    return load_args(argc, argv);
}

static void assert_good(const char *line)
{
    int rc = load(line);
    ck_assert_msg(rc == 0, "%s: %s", line, told);
}

static void assert_told(const char *line, const char *error)
{
    int rc = load(line);
    ck_assert_msg(rc == -EINVAL && settings == NULL, "accepted: %s", line);
    ck_assert_msg(strstr(told, error) != NULL, "%s: %s", line, told);
}

static void assert_line(const char *line)
{
    char *text = settings_describe(settings);
    struct buffer framed = {0}, wanted = {0};
    buffer_printf(&framed, "\n%s", text);
    buffer_printf(&wanted, "\n%s\n", line);
    ck_assert_msg(strstr(framed.data, wanted.data) != NULL, "no '%s' in:\n%s", line, text);
    buffer_finish(&framed);
    buffer_finish(&wanted);
    free(text);
}

static void setup(void)
{
    static const char *const names[] = {"HOST",         "PORT",           "THREADS",    "SSL",
                                        "SSL_PORT",     "SSL_CERT",       "SSL_KEY",    "PUBLIC",
                                        "FUNCTIONS",    "CONFIG",         "STATE_DIR",  "SHM_SIZE",
                                        "SHM_FILE",     "VERBOSE",        "WATCH",      "ADMIN",
                                        "OUTPUT_CACHE", "CLOUDGATE_PORT", "AUTO_RELOAD"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
}

static void teardown(void)
{
    char command[PATH_MAX];
    settings_destroy(settings);
    free(told);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

/* A bit of the mask for each layer that speaks, the lowest first. */
START_TEST(case_96_precedence)
{
    static const char *const names[] = {"file", ".env", "PORT", "CLOUDGATE_PORT", "flag"};
    for (int mask = 0; mask < 32; mask++) {
        if (mask & 1)
            write_file("apiconfig.yaml", "# port\nport: 1111\n");
        else
            unlink("apiconfig.yaml");
        if (mask & 2)
            write_file(".env", "CLOUDGATE_PORT=1112\n");
        else
            unlink(".env");
        if (mask & 4)
            setenv("PORT", "1113", 1);
        else
            unsetenv("PORT");
        if (mask & 8)
            setenv("CLOUDGATE_PORT", "1114", 1);
        else
            unsetenv("CLOUDGATE_PORT");
        assert_good(mask & 16 ? "--port 1115" : "");
        int best = 4;
        while (best >= 0 && !(mask & 1 << best))
            best--;
        ck_assert_msg(settings->port == (best < 0 ? 3000 : 1111 + best), "mask %d: %s should win, got %d",
                      mask, best < 0 ? "default" : names[best], settings->port);
    }
}
END_TEST

START_TEST(case_96_origins)
{
    char line[PATH_MAX];
    assert_good("");
    assert_line("port = 3000 (default)");
    assert_line("body_limit = 64 MiB (default)");
    assert_line("header_timeout = 10 s (default)");
    assert_line("config = none (default)");
    write_file("apiconfig.yaml", "# port\nport: 1111\nidle_timeout: 1500\n");
    assert_good("");
    assert_line("port = 1111 (apiconfig.yaml:2)");
    assert_line("idle_timeout = 1500 ms (apiconfig.yaml:3)");
    write_file(".env", "\n\nPORT=1112\n");
    assert_good("");
    snprintf(line, sizeof line, "port = 1112 (%s/.env:3)", settings->root);
    assert_line(line);
    setenv("PORT", "1113", 1);
    assert_good("");
    assert_line("port = 1113 (PORT in the environment)");
    setenv("CLOUDGATE_PORT", "1114", 1);
    assert_good("");
    assert_line("port = 1114 (CLOUDGATE_PORT in the environment)");
    assert_good("-p 1115");
    assert_line("port = 1115 (-p)");
}
END_TEST

START_TEST(case_96_empty_is_unset)
{
    write_file("apiconfig.yaml", "port: 1111\n");
    write_file(".env", "PORT=\n");
    setenv("PORT", "", 1);
    setenv("CLOUDGATE_PORT", "", 1);
    assert_good("");
    ck_assert_int_eq(settings->port, 1111);
}
END_TEST

START_TEST(case_96_bad_values_are_always_fatal)
{
    setenv("PORT", "abc", 1);
    assert_told("", "PORT in the environment: 'abc' is no whole decimal number (0 to 65535)");
    assert_told("--port 3333", "PORT in the environment: 'abc'");
    setenv("PORT", "08080", 1);
    assert_told("", "PORT in the environment: '08080' starts with a zero");
    unsetenv("PORT");
    assert_told("--port 3x", "--port: '3x'");
    assert_told("--port=", "--port: ''");
    assert_told("--public=", "--public: no value");
    write_file(".env", "A=1\nPORT=70000\n");
    assert_told("--port 3333", "/.env:2: PORT: '70000' is out of range");
    write_file(".env", "");
    write_file("apiconfig.yaml", "\nport: 1e3\n");
    assert_told("--port 3333", "apiconfig.yaml:2: port: '1e3'");
    setenv("SSL", "tru", 1);
    assert_told("", "SSL in the environment: 'tru' is neither yes nor no");
}
END_TEST

START_TEST(flags)
{
    static const struct {
        const char *line;
        int port;
        bool ssl, verbose;
    } rows[] = {
        {"--port 1", 1, false, false},
        {"--port=2", 2, false, false},
        {"-p 3", 3, false, false},
        {"--PORT 4 --port 5", 5, false, false},
        {"--ssl --port 6 --verbose", 6, true, true},
        {"--ssl=no -d -p=7", 7, false, true},
        {"--ssl=YES --sslport 8443 --ssl-port 8444 --ssl_port 8445 --debug --port 8", 8, true, true},
        {". --port 9", 9, false, false},
        {"--port 10 -- .", 10, false, false},
        {"--port 11 -r .", 11, false, false},
        {"--port 12 --rootfolder=.", 12, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_good(rows[i].line);
        ck_assert_int_eq(settings->port, rows[i].port);
        ck_assert_msg(settings->ssl == rows[i].ssl && settings->verbose == rows[i].verbose, "%s",
                      rows[i].line);
    }
    assert_good("-c 3 --header_timeout 5s --stop-timeout=2m --max-connections 7");
    ck_assert_int_eq(settings->threads, 3);
    ck_assert_int_eq(settings->header_timeout, 5000);
    ck_assert_int_eq(settings->stop_timeout, 120000);
    ck_assert_uint_eq(settings->max_connections, 7);
    assert_good("--cores 4");
    ck_assert_int_eq(settings->threads, 4);
}
END_TEST

START_TEST(flags_refused)
{
    static const char *const rows[][2] = {
        {"--prot 1", "--prot: unknown flag, did you mean '--port'?"},
        {"--ssl-prot=1", "--ssl-prot: unknown flag, did you mean '--ssl-port'?"},
        {"--wholly-unknown", "--wholly-unknown: unknown flag"},
        {"-x", "-x: unknown flag"},
        {"-port 1", "-port: unknown flag, did you mean '--port'?"},
        {"--port", "--port: no value behind it"},
        {"--port -1", "--port: '-1' is out of range"},
        {"--ssl=maybe", "--ssl: 'maybe' is neither"},
        {"--admin", "--admin: is not in this version yet"},
        {"-oc", "-oc: is not in this version yet"},
        {"--admintoken=x", "--admintoken: is not in this version yet"},
        {". /", "/: a second folder, after ."},
        {"/no/such/folder", "/no/such/folder: No such file or directory"},
        {"/dev/null", "/dev/null: is no folder"},
        {"-r", "-r: no value behind it"},
        {"--threads 257", "--threads: '257' is out of range (0 to 256)"},
        {"--config none.yaml", "--config: 'none.yaml'"},
        {"--config .", "--config: '.' is a folder"},
        {"--public none", "--public: 'none'"},
        {"--functions /dev/null", "--functions: '/dev/null' is no folder"},
        {"--shm-size 1k", "--shm-size: '1k' is out of range (1 MiB to 64 GiB)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_told(rows[i][0], rows[i][1]);
}
END_TEST

START_TEST(several_problems_at_once)
{
    setenv("PORT", "x", 1);
    write_file(".env", "nonsense\n");
    write_file("apiconfig.yaml", "prot: 1\n");
    assert_told("--ssl=x", "--ssl: 'x'");
    ck_assert_ptr_nonnull(strstr(told, "\nPORT in the environment: 'x'"));
    ck_assert_ptr_nonnull(strstr(told, "/.env:1: a name without '='"));
    ck_assert_ptr_nonnull(strstr(told, "\napiconfig.yaml:1: unknown key 'prot'"));
}
END_TEST

static char *below(const char *name)
{
    static char path[PATH_MAX];
    char *real = realpath(dir, NULL);
    snprintf(path, sizeof path, "%s/%s", real, name);
    free(real);
    return path;
}

START_TEST(folders)
{
    mkdir("app", 0700);
    mkdir("app/www", 0700);
    mkdir("www", 0700);
    assert_good("app");
    ck_assert_str_eq(settings->root, below("app"));
    ck_assert_str_eq(settings->public_dir, below("app/public")); /* there is none: nothing to serve */
    ck_assert_str_eq(settings->state_dir, below("app/.cloudgate"));
    ck_assert_ptr_null(settings->config_file);
    /* Whoever writes in the app's folder means that folder; a shell means where it is. */
    write_file("app/apiconfig.yaml", "public: www\n");
    assert_good("app");
    ck_assert_str_eq(settings->public_dir, below("app/www"));
    ck_assert_str_eq(settings->config_file, below("app/apiconfig.yaml"));
    write_file("app/.env", "PUBLIC=./www\nSTATE_DIR=state\n");
    assert_good("app");
    ck_assert_str_eq(settings->public_dir, below("app/www"));
    ck_assert_str_eq(settings->state_dir, below("app/state"));
    assert_good("app --public www");
    ck_assert_str_eq(settings->public_dir, below("www"));
    setenv("PUBLIC", "www", 1);
    assert_good("app");
    ck_assert_str_eq(settings->public_dir, below("www"));
    unsetenv("PUBLIC");
    ck_assert_int_eq(symlink("app", "current"), 0);
    assert_good("current");
    ck_assert_str_eq(settings->root, below("app"));
}
END_TEST

START_TEST(config_files)
{
    write_file("other.json", "{\"port\": 1234}");
    assert_good("--config other.json");
    ck_assert_int_eq(settings->port, 1234);
    assert_line("port = 1234 (other.json:1)");
    write_file(".env", "CONFIG=other.json\n");
    assert_good("");
    ck_assert_int_eq(settings->port, 1234);
    unlink(".env");
    write_file("apiconfig.json", "{\n\"port\": 4321}");
    assert_good("");
    ck_assert_int_eq(settings->port, 4321);
    write_file("apiconfig.json", "{port: 4321}");
    assert_told("", "apiconfig.json:1: ");
    write_file("apiconfig.yaml", "port: 1\n");
    assert_told("", "apiconfig.json: beside apiconfig.yaml; one of them has to go");
    unlink("apiconfig.json");
    assert_good("");
    unlink("apiconfig.yaml");
    mkdir("apiconfig.yaml", 0700);
    assert_told("", "apiconfig.yaml: is no regular file");
}
END_TEST

START_TEST(a_file_without_end)
{
    assert_told("--config /dev/zero", "/dev/zero: is no regular file");
    FILE *file = fopen("apiconfig.yaml", "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), 1 << 30), 0);
    fclose(file);
    assert_told("", "apiconfig.yaml: File too large");
}
END_TEST

START_TEST(a_folder_named_env_is_no_matter)
{
    mkdir(".env", 0700);
    assert_good("");
}
END_TEST

START_TEST(what_comes_later_is_warned_of)
{
    setenv("MASTER", "1", 1);
    setenv("SLAVE", "0", 1); /* as it is */
    setenv("OUTPUT_CACHE", "", 1);
    write_file(".env", "ADMIN=yes\n");
    assert_good("");
    ck_assert_uint_eq(settings->warning_count, 2);
    ck_assert_str_eq(settings->warnings[0], "ADMIN is set, but is not in this version yet");
    ck_assert_str_eq(settings->warnings[1], "MASTER is set, but is not in this version yet");
}
END_TEST

START_TEST(unrelated_variables_are_no_matter)
{
    setenv("PORTX", "abc", 1);
    setenv("CLOUDGATE_", "x", 1);
    setenv("port", "abc", 1);
    write_file(".env", "ANYTHING=goes\nport=abc\n");
    assert_good("");
    ck_assert_int_eq(settings->port, 3000);
}
END_TEST

START_TEST(env_is_exported)
{
    setenv("CFG_A", "environment", 1);
    unsetenv("CFG_B");
    write_file(".env", "CFG_A=file\nCFG_B=first\nCFG_B='the last'\n");
    write_file("apiconfig.yaml", "global: {APIKEY: \"${CFG_A} ${CFG_B}\"}\n");
    assert_good("");
    ck_assert_str_eq(settings->api_key.ptr, "environment the last");
    ck_assert_ptr_null(getenv("CFG_B"));
    settings_export_env(settings);
    ck_assert_str_eq(getenv("CFG_A"), "environment");
    ck_assert_str_eq(getenv("CFG_B"), "the last");
}
END_TEST

START_TEST(case_105_threads)
{
    assert_good("");
    int cpus = settings->threads;
    ck_assert_int_ge(cpus, 1);
    ck_assert_int_eq(cpus, settings->allowed_cpus < 256 ? settings->allowed_cpus : 256);
    char line[100];
    snprintf(line, sizeof line, "threads = %d (%d CPU%s allowed)", cpus, cpus, cpus == 1 ? "" : "s");
    assert_line(line);
    assert_good("--threads 0");
    ck_assert_int_eq(settings->threads, cpus);
    assert_good("--threads 8");
    ck_assert_int_eq(settings->threads, 8);
    assert_line("threads = 8 (--threads)");
}
END_TEST

START_TEST(defaults)
{
    assert_good("");
    ck_assert_ptr_null(settings->host);
    ck_assert(!settings->ssl && !settings->verbose && settings->auto_mount);
    ck_assert_ptr_null(settings->ssl_cert);
    ck_assert_ptr_null(settings->shm_file);
    ck_assert_uint_eq(settings->shm_size, 64 << 20);
    ck_assert_uint_eq(settings->header_limit, 32 << 10);
    ck_assert_int_eq(settings->idle_timeout, 60000);
    ck_assert_int_eq(settings->body_timeout, 10000);
    ck_assert_int_eq(settings->write_timeout, 30000);
    ck_assert_int_eq(settings->stop_delay, 0);
    ck_assert_int_eq(settings->stop_timeout, 8000);
    ck_assert_uint_eq(settings->max_connections, 10000);
    assert_good("--host 127.0.0.1");
    ck_assert_str_eq(settings->host, "127.0.0.1");
    setenv("HOST", "::1", 1);
    assert_good("--host *");
    ck_assert_ptr_null(settings->host);
}
END_TEST

START_TEST(described_routes)
{
    write_file("apiconfig.yaml", "global: {APIKEY: k}\nfunctions: {autoMount: yes}\nREST:\n"
                                 "  /a/:id: {path: b.so, handler: h, method: [get, put], isPrivate: true,\n"
                                 "           parametersList: [id, q], bodyLimit: 1k}\n"
                                 "  /c: {path: c}\n");
    assert_good("");
    assert_line("functions.autoMount = yes (apiconfig.yaml:2)");
    assert_line("/a/:id -> b.so handler h GET PUT, private, needs id q, body up to 1 KiB (apiconfig.yaml:4)");
    assert_line("/c -> c.so any method (apiconfig.yaml:6)");
}
END_TEST

START_TEST(nothing_to_destroy)
{
    settings_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *tests = tcase_create("config");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, case_96_precedence);
    tcase_add_test(tests, case_96_origins);
    tcase_add_test(tests, case_96_empty_is_unset);
    tcase_add_test(tests, case_96_bad_values_are_always_fatal);
    tcase_add_test(tests, flags);
    tcase_add_test(tests, flags_refused);
    tcase_add_test(tests, several_problems_at_once);
    tcase_add_test(tests, folders);
    tcase_add_test(tests, config_files);
    tcase_add_test(tests, a_file_without_end);
    tcase_add_test(tests, a_folder_named_env_is_no_matter);
    tcase_add_test(tests, what_comes_later_is_warned_of);
    tcase_add_test(tests, unrelated_variables_are_no_matter);
    tcase_add_test(tests, env_is_exported);
    tcase_add_test(tests, case_105_threads);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, described_routes);
    tcase_add_test(tests, nothing_to_destroy);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
