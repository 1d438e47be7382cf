/* Many clients at once, by the tools that others measure with: not one error, and memory stays flat.
   LOAD_SECONDS: how long each sample is loaded. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE 452460
#define MEMORY_KB 4096 /* that a load may leave behind once the server is warm */

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    measure_raise_limits();
    folder_write(folder, "public/image.jpg", bytes_make(FILE_SIZE, 1), FILE_SIZE);
    folder_add_function(folder, "functions/tests/simple.c", "tests/simple");
    folder_add_function(folder, "functions/tests/full.c", "tests/full");
    folder_add_function(folder, "functions/tests/template.c", "tests/template");
    size_t len;
    char *template = folder_read(&(struct folder){"functions/tests"}, "template.html", &len);
    folder_write(folder, "functions/tests/template.html", template, len);
    server = server_start(folder, (const char *const[]){NULL});
}

static void teardown(void)
{
    server_stop(server);
}

/* Runs a command to its end: what it printed. */
static char *run(const char *command)
{
    static char output[65536];
    FILE *pipe = popen(command, "re");
    ck_assert_ptr_nonnull(pipe);
    size_t len = fread(output, 1, sizeof output - 1, pipe);
    output[len] = '\0';
    int status = pclose(pipe);
    ck_assert_msg(status == 0, "%s: status %d\n%s", command, status, output);
    return output;
}

static void print_line(const char *name, const char *output, const char *start)
{
    const char *line = strstr(output, start);
    if (line != NULL)
        printf("%s: %.*s\n", name, (int)strcspn(line, "\n"), line);
}

START_TEST(a_thousand_connections_of_ab)
{
    const char *options = _i ? "-k" : "";
    char *output =
        run(text_print("ab -q %s -n 5000 -c 1000 http://127.0.0.1:%d/image.jpg 2>&1", options, server->port));
    print_line(_i ? "ab -k" : "ab", output, "Requests per second");
    ck_assert_msg(strstr(output, "Complete requests:      5000\n") != NULL &&
                      strstr(output, "Failed requests:        0\n") != NULL &&
                      strstr(output, "Non-2xx") == NULL && strstr(output, "Write errors") == NULL,
                  "%s", output);
}
END_TEST

static char *load(const char *path, long seconds)
{
    return run(text_print("wrk -t2 -c256 -d%lds --timeout 10s --latency http://127.0.0.1:%d%s 2>&1", seconds,
                          server->port, path));
}

START_TEST(each_sample_under_wrk)
{
    static const char *const paths[] = {"/api/tests/simple", "/api/tests/full", "/api/tests/template",
                                        "/image.jpg"};
    load(paths[_i], 1);
    long before = measure_rss(server);
    char *output = load(paths[_i], measure_option("LOAD_SECONDS", 3));
    print_line(paths[_i], output, "Requests/sec");
    print_line(paths[_i], output, "99%");
    printf("%s: RSS %ld -> %ld kB\n", paths[_i], before, measure_rss(server));
    ck_assert_msg(strstr(output, "Socket errors") == NULL && strstr(output, "Non-2xx") == NULL, "%s", output);
    ck_assert_int_le(measure_rss(server), before + MEMORY_KB);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    Suite *suite = suite_create("many");
    TCase *many = harness_case(suite, "many", setup, teardown);
    tcase_add_loop_test(many, a_thousand_connections_of_ab, 0, 2);
    tcase_add_loop_test(many, each_sample_under_wrk, 0, 4);
    tcase_set_timeout(many, 600);
    return harness_run(suite);
}
