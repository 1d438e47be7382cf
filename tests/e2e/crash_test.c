/* Functions that crash or do not return: the caller is told, and nobody else notices. */
#include "crowd.h"
#include "harness.h"
#include "socket.h"

#include <stdio.h>

static struct folder *folder;
static struct server *server;

static void start(const char *limit)
{
    folder = folder_create();
    folder_add_function(folder, "tests/stories/crash.c", "crash");
    folder_add_function(folder, "tests/stories/simple.c", "simple");
    folder_add_function(folder, "tests/e2e/functions/faults.c", "faults");
    folder_print(folder, "apiconfig.yaml",
                 "REST:\n"
                 "  /api/crash: { path: crash.so, timeout: 500ms }\n"
                 "  /api/pool: { path: crash.so, mode: blocking, timeout: 1s }\n"
                 "  /api/faults: { path: faults.so, timeout: 300ms }\n"
                 "WEBSOCKET:\n"
                 "  /ws: { path: faults.so }\n"
                 "  /ws/pool: { path: faults.so, mode: blocking }\n");
    server = server_start(folder, (const char *const[]){"THREADS=2", limit, NULL});
}

static void setup(void)
{
    start("CRASH_LIMIT=0");
}

static void teardown(void)
{
    server_renew(server);
    server_stop(server);
}

static struct answer *get(const char *path)
{
    return client_get(server, HTTP1, path);
}

static const struct {
    const char *path, *log;
    int status;
} ways[] = {
    {"/api/crash?how=null", "crash.c:", 500},    {"/api/crash?how=abort", "signal 6", 500},
    {"/api/crash?how=stack", "in deep", 500},    {"/api/crash?how=loop", "cut off", 504},
    {"/api/pool?how=null", "crash.c:", 500},     {"/api/pool?how=stack", "in deep", 500},
    {"/api/faults?how=divide", "signal 8", 500}, {"/api/faults?how=body", "answered 500", 500},
};

START_TEST(story_crash_the_caller_is_told_and_nobody_else_notices)
{
    for (int i = 0; i < 3; i++) {
        pause_ms(100); /* a second fault in the same worker would end it */
        answer_expect(get(ways[_i].path), ways[_i].status);
        answer_expect(get("/api/simple"), 200);
        answer_expect_text(get("/api/crash"), 200, "still here\n");
    }
    server_expect_log(server, (const char *const[]){ways[_i].log, NULL});
}
END_TEST

/* Its neighbour on the same loop is answered by the worker that had the fault. */
START_TEST(what_has_begun_is_finished)
{
    struct wire *slow[8];
    for (int i = 0; i < 8; i++) {
        slow[i] = wire_open(server->port);
        wire_print(slow[i], "GET /api/faults?how=later HTTP/1.1\r\nHost: x.test\r\n\r\n");
    }
    pause_ms(50);
    answer_expect(get("/api/crash?how=null"), 500);
    for (int i = 0; i < 8; i++) {
        answer_expect_text(wire_answer(slow[i], "GET"), 200, "later\n");
        wire_close(slow[i]);
    }
}
END_TEST

static void expect_crash_closes(const char *path)
{
    struct socket *socket = socket_open(server, HTTP1, path, "", NULL);
    socket_text(socket, "hello");
    socket_expect_text(socket, "hello");
    socket_text(socket, "crash");
    socket_expect_close(socket, 1011);
    socket_drop(socket);
    answer_expect(get("/api/simple"), 200);
    socket_finish(socket_open(server, HTTP1, path, "", NULL));
}

START_TEST(hooks_of_websockets_too)
{
    expect_crash_closes("/ws");
    expect_crash_closes("/ws/pool");
}
END_TEST

/* Where nothing can be left half done there is no way back: the worker is replaced, and its clients lose
   their answers. */
START_TEST(one_that_sleeps_on_a_loop_ends_its_worker)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /api/faults?how=sleep HTTP/1.1\r\nHost: x.test\r\n\r\n");
    wire_expect_end(wire);
    wire_close(wire);
    server_expect_log(server, (const char *const[]){"can't be left; ending this worker", NULL});
    answer_expect(get("/api/simple"), 200);
}
END_TEST

START_TEST(a_fault_in_a_thread_of_the_function_ends_its_worker)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /api/faults?how=thread HTTP/1.1\r\nHost: x.test\r\n\r\n");
    wire_expect_end(wire);
    wire_close(wire);
    server_expect_log(server, (const char *const[]){"killed by signal 11", NULL});
    answer_expect(get("/api/simple"), 200);
}
END_TEST

START_TEST(no_other_request_fails)
{
    struct crowd *crowd = crowd_start(server, "/api/simple", 4, 0);
    for (int i = 0; i < 20; i++) {
        answer_expect(get(i % 2 ? "/api/crash?how=null" : "/api/crash?how=stack"), 500);
        pause_ms(50);
    }
    crowd_end(crowd);
}
END_TEST

START_TEST(who_crashes_too_often_is_switched_off)
{
    start("CRASH_LIMIT=3");
    for (int i = 0; i < 3; i++) {
        answer_expect(get("/api/crash?how=null"), 500);
        pause_ms(100); /* a second fault in the same worker would end it */
    }
    for (int i = 0; i < 200 && get("/api/crash")->status != 503; i++)
        pause_ms(20);
    answer_expect(get("/api/crash"), 503);
    answer_expect(get("/api/simple"), 200);
    server_expect_log(server, (const char *const[]){"crash.so: is switched off", NULL});
    run_command((const char *const[]){"cc", "-O1", "-shared", "-fPIC", "-Iinclude", "-o",
                                      folder_path(folder, "functions/crash.so"), "tests/stories/crash.c",
                                      NULL});
    for (int i = 0; i < 200 && get("/api/crash")->status != 200; i++)
        pause_ms(20);
    answer_expect_text(get("/api/crash"), 200, "still here\n");
    server_renew(server);
    server_stop(server);
}
END_TEST

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_THREAD_SANITIZER
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define WITH_THREAD_SANITIZER
#endif

int main(void)
{
#ifdef WITH_THREAD_SANITIZER
    puts("SKIPPED: ThreadSanitizer keeps signals back");
    return 77;
#endif
    Suite *suite = suite_create("crash");
    TCase *tests = harness_case(suite, "crash", setup, teardown);
    TCase *limit = harness_case(suite, "limit", NULL, NULL);
    tcase_add_loop_test(tests, story_crash_the_caller_is_told_and_nobody_else_notices, 0,
                        (int)(sizeof ways / sizeof *ways));
    tcase_add_test(tests, what_has_begun_is_finished);
    tcase_add_test(tests, hooks_of_websockets_too);
    tcase_add_test(tests, one_that_sleeps_on_a_loop_ends_its_worker);
    tcase_add_test(tests, a_fault_in_a_thread_of_the_function_ends_its_worker);
    tcase_add_test(tests, no_other_request_fails);
    tcase_add_test(limit, who_crashes_too_often_is_switched_off);
    return harness_run(suite);
}
