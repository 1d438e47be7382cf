/* Reloads: a new worker takes over, or the old one goes on; nobody outside notices. */
#include "crowd.h"
#include "harness.h"
#include "socket.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERSIONS 20

static struct folder *folder;
static struct server *server;

/* functions/NAME.c, whose handler answers with that text, and what else it does. */
static void write_source(const char *name, const char *text, const char *more)
{
    folder_print(folder, text_print("functions/%s.c", name),
                 "#include <cloudgate.h>\n#include <stdlib.h>\n"
                 "static int count;\n"
                 "static void answer(cg_event *event)\n{\n    %s\n"
                 "    cg_reply(event, 200, \"text/plain\", \"%s %%d\", ++count);\n}\n"
                 "CG_MODULE(.get = answer);\n",
                 more, text);
}

/* Compiled to a file of that name below functions/. */
static void compile(const char *source, const char *object)
{
    run_command((const char *const[]){"cc", "-shared", "-fPIC", "-Iinclude", "-o",
                                      folder_path(folder, text_print("functions/%s", object)),
                                      folder_path(folder, text_print("functions/%s.c", source)), NULL});
}

static void setup(void)
{
    folder = folder_create();
    write_source("hello", "v0", "");
    compile("hello", "hello.so");
    folder_add_function(folder, "tests/stories/simple.c", "simple");
    folder_add_function(folder, "tests/stories/news.c", "news");
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    folder_write(folder, "public/page.html", "page", 4);
    server = server_start(folder, (const char *const[]){"THREADS=2", "DRAIN_TIMEOUT=5s", NULL});
}

static void teardown(void)
{
    server_renew(server);
    server_stop(server);
}

static char *get(const char *path)
{
    return client_get(server, HTTP1, path)->body;
}

static void await(const char *path, const char *start)
{
    char *got = NULL;
    for (int i = 0; i < 400; i++) {
        got = get(path);
        if (strncmp(got, start, strlen(start)) == 0)
            return;
        pause_ms(20);
    }
    ck_abort_msg("%s: '%s' where '%s' is expected\n%s", path, got, start, server_errors(server));
}

static int run(const char *command, char **ret_output)
{
    return server_run(folder, (const char *const[]){text_print("STATE_DIR=%s.state", server->errors), NULL},
                      (const char *const[]){command, folder->path, NULL}, ret_output);
}

static void reload(void)
{
    char *output;
    int status = run("reload", &output);
    ck_assert_msg(status == 0, "status %d: %s", status, output);
}

/* ---- changed modules ---- */

START_TEST(case_76_the_new_build_is_loaded_every_time)
{
    for (int i = 1; i <= VERSIONS; i++) {
        write_source("hello", text_print("v%d", i), "");
        if (i % 3 == 0) {
            compile("hello", "hello.so"); /* by the linker, which replaces it */
        } else if (i % 3 == 1) {
            compile("hello", ".next");
            rename(folder_path(folder, "functions/.next"), folder_path(folder, "functions/hello.so"));
        } else {
            unlink(folder_path(folder, "functions/hello.so"));
            compile("hello", "hello.so");
        }
        await("/api/hello", text_print("v%d ", i));
        for (int k = 0; k < 10; k++)
            ck_assert_int_eq(strncmp(get("/api/hello"), text_print("v%d ", i), 3), 0);
    }
}
END_TEST

/* Written over in place, as cp does, piece by piece, while somebody asks. */
START_TEST(case_77_a_module_that_is_overwritten_harms_nobody)
{
    size_t len;
    write_source("hello", "overwritten", "");
    compile("hello", ".whole");
    char *bytes = folder_read(folder, "functions/.whole", &len);
    int fd = open(folder_path(folder, "functions/hello.so"), O_WRONLY | O_TRUNC);
    ck_assert_int_ge(fd, 0);
    for (size_t at = 0; at < len; at += 2000) {
        size_t part = len - at < 2000 ? len - at : 2000;
        ck_assert_int_eq(write(fd, bytes + at, part), (int)part);
        ck_assert_int_eq(client_get(server, HTTP1, "/api/hello")->status, 200);
        pause_ms(5);
    }
    close(fd);
    await("/api/hello", "overwritten ");
    unlink(folder_path(folder, "functions/.whole"));
}
END_TEST

START_TEST(case_79_a_module_that_cannot_be_loaded_changes_nothing)
{
    char *output, *before = get("/api/hello");
    before[strcspn(before, " ")] = '\0';
    write_source("broken", "x", "int no_such_fn(void); if (event->data) no_such_fn();");
    compile("broken", "hello.so");
    server_expect_log(server, (const char *const[]){"the old one goes on", NULL});
    ck_assert_int_eq(strncmp(get("/api/hello"), before, strlen(before)), 0);
    ck_assert_int_eq(run("reload", &output), 1);
    ck_assert_ptr_nonnull(strstr(output, "hello.so"));
    ck_assert_ptr_nonnull(strstr(output, "no_such_fn"));
    ck_assert_int_eq(run("status", &output), 0);
    ck_assert_ptr_nonnull(strstr(output, "no_such_fn"));
    unlink(folder_path(folder, "functions/broken.c"));
    write_source("hello", "mended", "");
    compile("hello", "hello.so");
    await("/api/hello", "mended ");
}
END_TEST

START_TEST(case_82_functions_come_and_go)
{
    for (int i = 0; i < 3; i++) {
        write_source("late", text_print("late%d", i), "");
        compile("late", "late.so");
        await("/api/late", text_print("late%d ", i));
        unlink(folder_path(folder, "functions/late.so"));
        await("/api/late", "404");
    }
    unlink(folder_path(folder, "functions/late.c"));
}
END_TEST

/* ---- what stays ---- */

START_TEST(counters_outlive_reloads_and_statics_do_not)
{
    struct socket *socket = socket_open(server, HTTP1, "/api/socket", "", NULL);
    long opened = 0, again = 0;
    ck_assert_int_eq(sscanf(get("/api/socket"), "%ld", &opened), 1);
    ck_assert_int_ge(opened, 1);
    get("/api/hello");
    reload();
    socket_drop(socket);
    ck_assert_int_eq(sscanf(get("/api/socket"), "%ld", &again), 1);
    ck_assert_int_ge(again, opened);
    ck_assert_ptr_nonnull(strstr(get("/api/hello"), " 1"));
}
END_TEST

START_TEST(websockets_are_told_and_may_come_back)
{
    struct socket *socket = socket_open(server, HTTP1, "/api/socket?name=reloaded", "", NULL);
    reload();
    socket_text(socket, "still here");
    struct socket_frame frame;
    ck_assert(socket_next(socket, &frame));
    if (frame.first == (SOCKET_FIN | SOCKET_TEXT))
        ck_assert(socket_next(socket, &frame));
    ck_assert_uint_eq(frame.first, SOCKET_FIN | SOCKET_CLOSE);
    ck_assert_int_eq((unsigned char)frame.data[0] << 8 | (unsigned char)frame.data[1], 1001);
    socket_close_with(socket, 1001, "");
    socket_expect_end(socket);
    socket_drop(socket);
    await("/api/socket?closed=reloaded", "1001 ");
    socket_finish(socket_open(server, HTTP1, "/api/socket", "", NULL));
}
END_TEST

START_TEST(a_kept_connection_is_closed_between_two_answers)
{
    struct wire *wire = wire_open(server->port);
    static const char request[] = "GET /page.html HTTP/1.1\r\nHost: x.test\r\n\r\n";
    wire_send(wire, request, sizeof request - 1);
    answer_expect(wire_answer(wire, "GET"), 200);
    reload();
    pause_ms(50);
    wire_send(wire, request, sizeof request - 1);
    struct answer *answer = wire_answer(wire, "GET");
    answer_expect(answer, 200);
    answer_expect_field(answer, "connection", "close");
    wire_expect_end(wire);
    wire_close(wire);
}
END_TEST

/* ---- under load ---- */

START_TEST(no_request_fails_while_workers_come_and_go)
{
    struct crowd *crowd = crowd_start(server, "/api/simple", 8, 0);
    for (int i = 0; i < 20; i++) {
        if (i % 2 == 0)
            reload();
        else
            kill(server->pid, SIGHUP);
        pause_ms(50);
    }
    crowd_end(crowd);
}
END_TEST

/* ---- settings ---- */

START_TEST(what_needs_a_restart_is_refused_by_name)
{
    char *output;
    folder_print(folder, "apiconfig.yaml", "ssl: true\nssl_port: 0\n");
    ck_assert_int_eq(run("reload", &output), 1);
    ck_assert_ptr_nonnull(strstr(output, "SSL is 1 now, which needs a restart"));
    folder_print(folder, "apiconfig.yaml", "REST: { /api/other: { path: simple.so, methods: GET } }\n");
    ck_assert_int_eq(run("reload", &output), 1);
    ck_assert_ptr_nonnull(strstr(output, "did you mean 'method'?"));
    answer_expect(client_get(server, HTTP1, "/api/other"), 404);
    folder_print(folder, "apiconfig.yaml", "REST: { /api/other: { path: simple.so, method: GET } }\n");
    reload();
    answer_expect(client_get(server, HTTP1, "/api/other"), 200);
    unlink(folder_path(folder, "apiconfig.yaml"));
    reload();
}
END_TEST

/* ---- sources that are saved ---- */

START_TEST(with_watch_a_saved_source_is_served)
{
    folder = folder_create();
    write_source("live", "first", "");
    server = server_start(folder, (const char *const[]){"WATCH=1", NULL});
    answer_expect(client_get(server, HTTP1, "/api/live"), 404); /* nobody has built it */
    write_source("live", "second", "");
    await("/api/live", "second ");
    write_source("live", "third", "this is no C");
    server_expect_log(server, (const char *const[]){"some functions were not built", NULL});
    ck_assert_int_eq(strncmp(get("/api/live"), "second ", 7), 0);
    write_source("live", "fourth", "");
    await("/api/live", "fourth ");
    folder_print(folder, "apiconfig.yaml", "REST: { /api/also: { path: live.so } }\n");
    await("/api/also", "fourth ");
    server_renew(server);
    server_stop(server);
}
END_TEST

START_TEST(without_auto_reload_nothing_happens_by_itself)
{
    folder = folder_create();
    write_source("still", "first", "");
    compile("still", "still.so");
    server = server_start(folder, (const char *const[]){"AUTO_RELOAD=0", NULL});
    write_source("still", "second", "");
    compile("still", "still.so");
    pause_ms(1000);
    ck_assert_int_eq(strncmp(get("/api/still"), "first ", 6), 0);
    reload();
    await("/api/still", "second ");
    server_renew(server);
    server_stop(server);
}
END_TEST

START_TEST(case_82_a_folder_that_is_a_switched_link)
{
    struct folder *site = folder_create();
    folder = site;
    write_source("linked", "one", "");
    mkdir(folder_path(site, "one"), 0755);
    mkdir(folder_path(site, "two"), 0755);
    compile("linked", "../one/linked.so");
    write_source("linked", "two", "");
    compile("linked", "../two/linked.so");
    run_command((const char *const[]){"rm", "-r", folder_path(site, "functions"), NULL});
    ck_assert_int_eq(symlink("one", folder_path(site, "functions")), 0);
    server = server_start(site, (const char *const[]){NULL});
    await("/api/linked", "one ");
    ck_assert_int_eq(symlink("two", folder_path(site, "next")), 0);
    ck_assert_int_eq(rename(folder_path(site, "next"), folder_path(site, "functions")), 0);
    await("/api/linked", "two ");
    server_renew(server);
    server_stop(server);
}
END_TEST

START_TEST(stop_ends_it)
{
    char *output;
    folder = folder_create();
    server = server_start(folder, (const char *const[]){NULL});
    ck_assert_int_eq(run("stop", &output), 0);
    int status;
    ck_assert_int_eq(waitpid(server->pid, &status, 0), server->pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(run("status", &output), 1);
    ck_assert_ptr_nonnull(strstr(output, "no server can be reached"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reload");
    TCase *tests = harness_case(suite, "reload", setup, teardown);
    TCase *others = harness_case(suite, "others", NULL, NULL);
    tcase_add_test(tests, case_76_the_new_build_is_loaded_every_time);
    tcase_add_test(tests, case_77_a_module_that_is_overwritten_harms_nobody);
    tcase_add_test(tests, case_79_a_module_that_cannot_be_loaded_changes_nothing);
    tcase_add_test(tests, case_82_functions_come_and_go);
    tcase_add_test(tests, counters_outlive_reloads_and_statics_do_not);
    tcase_add_test(tests, websockets_are_told_and_may_come_back);
    tcase_add_test(tests, a_kept_connection_is_closed_between_two_answers);
    tcase_add_test(tests, no_request_fails_while_workers_come_and_go);
    tcase_add_test(tests, what_needs_a_restart_is_refused_by_name);
    tcase_add_test(others, with_watch_a_saved_source_is_served);
    tcase_add_test(others, without_auto_reload_nothing_happens_by_itself);
    tcase_add_test(others, case_82_a_folder_that_is_a_switched_link);
    tcase_add_test(others, stop_ends_it);
    return harness_run(suite);
}
