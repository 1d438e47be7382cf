/* The access log: a line for each request, whole and once, whatever becomes of the file. */
#include "crowd.h"
#include "harness.h"
#include "socket.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS 4
#define EACH 2000

static struct folder *folder;
static struct server *server;

static void start(const char *log, const char *format)
{
    folder = folder_create();
    folder_add_function(folder, "tests/stories/simple.c", "simple");
    folder_add_function(folder, "tests/stories/slow.c", "slow");
    folder_add_function(folder, "tests/e2e/functions/socket.c", "socket");
    folder_write(folder, "public/page.html", "page", 4);
    folder_write(folder, "logs/README", "", 0);
    server = server_start(
        folder, (const char *const[]){
                    text_print("ACCESS_LOG=%s%s", log[0] == '/' ? "" : text_print("%s/", folder->path), log),
                    "THREADS=2", text_print("ACCESS_LOG_FORMAT=%s", format), NULL});
}

static size_t count_lines(const char *name)
{
    size_t len, count = 0;
    char *text = folder_read(folder, name, &len);
    for (size_t i = 0; i < len; i++)
        count += text[i] == '\n';
    free(text);
    return count;
}

/* What has been written, once it holds that text. */
static char *await_text(const char *name, const char *wanted)
{
    size_t len;
    char *text = NULL;
    for (int i = 0; i < 200; i++) {
        text = folder_read(folder, name, &len);
        if (strstr(text, wanted) != NULL)
            return text;
        free(text);
        pause_ms(20);
    }
    ck_abort_msg("%s: no line holds '%s'", name, wanted);
}

static void send_raw(const char *request)
{
    struct wire *wire = wire_open(server->port);
    wire_send(wire, request, strlen(request));
    (void)wire_answer_or_end(wire, "GET");
    wire_close(wire);
}

START_TEST(case_107_each_line_is_json)
{
    start("access.log", "json");
    struct request request = {
        .path = "/page.html?a=\"b\"",
        .fields = (const char *const[]){"User-Agent: a\" 200 \"b\\ \xff", "Referer: http://r/", NULL}};
    answer_expect(client_send(server, &request), 200);
    answer_expect(client_get(server, HTTP1, "/x%0a127.0.0.1%20-%20forged"), 404);
    answer_expect(client_get(server, HTTP1, "/api/simple"), 200);
    send_raw("GET / HTTP/9.9\r\nHost: x\r\n\r\n");
    send_raw("nonsense\r\n\r\n");
    socket_finish(socket_open(server, HTTP1, "/api/socket", "", NULL));
    char *text = await_text("access.log", "\"status\":101"), *rest = text, *line;
    await_text("access.log", "/api/simple");
    size_t count = 0;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        json_error_t error;
        json_t *json = json_loads(line, 0, &error);
        ck_assert_msg(json != NULL, "%s: %s", error.text, line);
        ck_assert_str_eq(json_string_value(json_object_get(json, "ip")), "127.0.0.1");
        count++;
    }
    ck_assert_uint_eq(count, 6);
    server_stop(server);
}
END_TEST

static void ask(int count)
{
    crowd_end(crowd_start(server, "/api/simple", 1, count));
}

START_TEST(case_100_no_line_is_lost_while_the_file_is_rotated)
{
    size_t lines = 0;
    start("access.log", "common");
    struct crowd *crowd = crowd_start(server, "/api/simple", CLIENTS, EACH);
    for (int i = 0; i < 10; i++) {
        pause_ms(30);
        rename(folder_path(folder, "access.log"), folder_path(folder, text_print("access.log.%d", i)));
        kill(server->pid, SIGUSR1);
    }
    crowd_end(crowd);
    pause_ms(300);
    server_stop(server);
    for (int i = 0; i < 10; i++)
        if (access(folder_path(folder, text_print("access.log.%d", i)), F_OK) == 0)
            lines += count_lines(text_print("access.log.%d", i));
    if (access(folder_path(folder, "access.log"), F_OK) == 0)
        lines += count_lines("access.log");
    ck_assert_uint_eq(lines, CLIENTS * EACH);
}
END_TEST

/* cp and then > access.log: without O_APPEND there would be a hole. */
START_TEST(case_100_a_file_that_is_emptied_has_no_hole)
{
    size_t len;
    start("access.log", "combined");
    ask(100);
    await_text("access.log", "simple");
    pause_ms(300);
    ck_assert_int_eq(truncate(folder_path(folder, "access.log"), 0), 0);
    ask(1);
    char *text = await_text("access.log", "simple");
    folder_read(folder, "access.log", &len);
    ck_assert_uint_eq(strlen(text), len);
    ck_assert_uint_eq(count_lines("access.log"), 1);
    server_stop(server);
}
END_TEST

START_TEST(case_100_a_full_disk_stops_nobody)
{
    start("/dev/full", "combined");
    ask(1000);
    server_expect_log(server, (const char *const[]){"lines of the access log are lost", NULL});
    ask(10);
    server_stop(server);
}
END_TEST

START_TEST(case_100_a_folder_that_is_gone_stops_nobody)
{
    start("logs/access.log", "combined");
    ask(10);
    await_text("logs/access.log", "simple");
    run_command((const char *const[]){"mv", folder_path(folder, "logs"), folder_path(folder, "old"), NULL});
    kill(server->pid, SIGUSR1);
    server_expect_log(server, (const char *const[]){"logs/access.log: No such file", NULL});
    ask(10);
    pause_ms(300);
    ck_assert_uint_eq(count_lines("old/access.log"), 20); /* what there was goes on */
    server_stop(server);
}
END_TEST

START_TEST(a_client_that_leaves_is_499)
{
    start("access.log", "common");
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /api/slow?ms=400 HTTP/1.1\r\nHost: x.test\r\n\r\n");
    pause_ms(100);
    wire_reset(wire);
    await_text("access.log", " 499 ");
    server_stop(server);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access");
    TCase *tests = harness_case(suite, "access", NULL, NULL);
    tcase_add_test(tests, case_107_each_line_is_json);
    tcase_add_test(tests, case_100_no_line_is_lost_while_the_file_is_rotated);
    tcase_add_test(tests, case_100_a_file_that_is_emptied_has_no_hole);
    tcase_add_test(tests, case_100_a_full_disk_stops_nobody);
    tcase_add_test(tests, case_100_a_folder_that_is_gone_stops_nobody);
    tcase_add_test(tests, a_client_that_leaves_is_499);
    return harness_run(suite);
}
