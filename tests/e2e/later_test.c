/* Functions that do not answer on the loop: on the pool, or later, whatever their clients do meanwhile. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct server *server, *tls, *narrow;

static struct folder *make_folder(void)
{
    static const char *const functions[] = {"echo", "wait", "calls", "defer", NULL};
    struct folder *folder = folder_create();
    for (size_t i = 0; functions[i] != NULL; i++)
        folder_add_function(folder, text_print("tests/e2e/functions/%s.c", functions[i]), functions[i]);
    folder_add_function(folder, "tests/stories/slow.c", "slow");
    folder_print(folder, "functions/page.html", "a page");
    folder_print(folder, "public/index.html", "static");
    folder_print(folder, "apiconfig.yaml",
                 "REST:\n"
                 "  /api/wait: { path: wait.so, mode: blocking }\n"
                 "  /api/calls: { path: calls.so, mode: blocking }\n"
                 "  /api/echo: { path: echo.so, mode: blocking }\n"
                 "  /api/slow: { path: slow.so }\n"
                 "  /api/hurry: { path: slow.so, timeout: 100 }\n"
                 "  /api/defer: { path: defer.so }\n"
                 "  /api/pool/defer: { path: defer.so, mode: blocking }\n"
                 "  /api/defer/hurry: { path: defer.so, timeout: 100 }\n");
    folder_add_certificate(folder);
    return folder;
}

static void setup(void)
{
    struct folder *folder = make_folder();
    server = server_start(folder, (const char *const[]){"THREADS=1", NULL});
    tls = server_start(folder, (const char *const[]){"SSL=1", "SSL_PORT=0",
                                                     text_print("SSL_CERT=%s/cert.pem", folder->path),
                                                     text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
    narrow = server_start(folder, (const char *const[]){"THREADS=1", "POOL_THREADS=1", "POOL_QUEUE=1", NULL});
}

static void teardown(void)
{
    server_stop(server);
    server_stop(tls);
    server_stop(narrow);
}

static struct answer *get(int transport, const char *path)
{
    return client_get(transport == HTTP1 ? server : tls, (enum transport)transport, path);
}

/* A call of `wait` on a connection of its own, from when it has entered until gate_open. */
struct gate {
    struct wire *wire;
    char *entered, *until;
};

static struct gate gate_request(const struct server *of)
{
    static int number;
    struct gate gate = {.entered = text_print("%s/entered-%d-%d", harness_folder(), (int)getpid(), number),
                        .until = text_print("%s/until-%d-%d", harness_folder(), (int)getpid(), number)};
    number++;
    gate.wire = wire_open(of->port);
    wire_print(gate.wire, "GET /api/wait?entered=%s&until=%s HTTP/1.1\r\nHost: x\r\n\r\n", gate.entered,
               gate.until);
    return gate;
}

static struct gate gate_enter(const struct server *of)
{
    struct gate gate = gate_request(of);
    while (access(gate.entered, F_OK) != 0)
        pause_ms(5);
    return gate;
}

static void gate_open(const struct gate *gate)
{
    fclose(fopen(gate->until, "w"));
}

START_TEST(the_story_slow_sleeps_on_the_pool)
{
    answer_expect_text(get(_i, "/api/slow?ms=1"), 200, "slept 1 ms\n");
}
END_TEST

START_TEST(the_loop_goes_on_while_functions_block)
{
    struct gate gates[5];
    for (int i = 0; i < 5; i++)
        gates[i] = gate_enter(server);
    for (int i = 0; i < 5; i++)
        answer_expect_text(get(HTTP1, "/"), 200, "static");
    for (int i = 0; i < 5; i++)
        ck_assert(wire_silent(gates[i].wire, 0));
    for (int i = 4; i >= 0; i--) {
        gate_open(&gates[i]);
        answer_expect_text(wire_answer(gates[i].wire, "GET"), 200, "hidden\n");
    }
}
END_TEST

/* Bodies, forms and everything else of the event are there for a function on the pool, too. */
START_TEST(an_event_is_whole_on_the_pool)
{
    char *body = bytes_make(3 << 20, 4);
    json_t *echo = answer_json(client_post(_i == HTTP1 ? server : tls, (enum transport)_i, "/api/echo?a=1",
                                           "text/plain", body, 3 << 20));
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(echo, "body"), "digest")),
                     bytes_digest(body, 3 << 20));
    ck_assert_str_eq(json_string_value(json_object_get(echo, "query")), "a=1");
    free(body);
}
END_TEST

START_TEST(case_51_pipelined_answers_wait_for_a_slow_one)
{
    struct gate gate = gate_enter(server);
    wire_print(gate.wire, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
                          "POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd"
                          "GET /api/slow?ms=0 HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert(wire_silent(gate.wire, 50));
    gate_open(&gate);
    answer_expect_text(wire_answer(gate.wire, "GET"), 200, "hidden\n");
    answer_expect_text(wire_answer(gate.wire, "GET"), 200, "static");
    ck_assert_ptr_nonnull(strstr(wire_answer(gate.wire, "POST")->body, "61626364"));
    answer_expect_text(wire_answer(gate.wire, "GET"), 200, "slept 0 ms\n");
}
END_TEST

START_TEST(case_54_a_half_close_does_not_lose_the_answer)
{
    struct gate gate = gate_enter(server);
    wire_half_close(gate.wire);
    pause_ms(5);
    gate_open(&gate);
    answer_expect_text(wire_answer(gate.wire, "GET"), 200, "hidden\n");
    wire_expect_end(gate.wire);
}
END_TEST

START_TEST(case_55_clients_that_leave_hurt_nobody)
{
    struct gate closed = gate_enter(server), reset = gate_enter(server);
    wire_close(closed.wire);
    wire_reset(reset.wire);
    answer_expect_text(get(HTTP1, "/"), 200, "static");
    gate_open(&closed);
    gate_open(&reset);
    for (int i = 0; i < 20; i++)
        answer_expect_text(get(HTTP1, "/api/slow?ms=1"), 200, "slept 1 ms\n");
}
END_TEST

START_TEST(a_full_queue_is_503_and_what_was_cancelled_never_starts)
{
    struct gate first = gate_enter(narrow);
    struct wire *queued = wire_open(narrow->port);
    wire_print(queued, "POST /api/calls HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    for (int i = 0; i < 3; i++) /* the loop has then seen what was sent before */
        answer_expect_text(client_get(narrow, HTTP1, "/"), 200, "static");
    struct answer *answer = client_get(narrow, HTTP1, "/api/calls");
    answer_expect(answer, 503);
    answer_expect_field(answer, "retry-after", "1");
    answer_expect_text(client_get(narrow, HTTP1, "/"), 200, "static");
    wire_reset(queued);
    struct gate second = gate_request(narrow);
    gate_open(&first);
    gate_open(&second);
    answer_expect_text(wire_answer(first.wire, "GET"), 200, "hidden\n");
    wire_answer(second.wire, "GET");
    answer_expect_text(client_get(narrow, HTTP1, "/api/calls"), 200, "0");
}
END_TEST

START_TEST(a_timeout_is_504_and_the_late_answer_is_dropped)
{
    struct wire *wire = wire_open(server->port);
    for (int i = 0; i < 3; i++) {
        wire_print(wire,
                   "GET /api/hurry?ms=400 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
        answer_expect(wire_answer(wire, "GET"), 504);
        answer_expect_text(wire_answer(wire, "GET"), 200, "static");
    }
    answer_expect_text(get(HTTP1, "/api/hurry?ms=0"), 200, "slept 0 ms\n");
    server_expect_log(server,
                      (const char *const[]){"slow.so", "/api/hurry", "no answer within 100 ms", NULL});
    ck_assert(wire_silent(wire, 500));
    answer_expect(client_get(tls, HTTP2, "/api/hurry?ms=400"), 504);
}
END_TEST

START_TEST(answers_given_later_from_a_thread)
{
    for (int i = 0; i < 10; i++) {
        struct answer *answer = get(_i, text_print("/api/defer?ms=%d", i));
        answer_expect_text(answer, 200, "a page");
        answer_expect_field(answer, "x-later", "7");
    }
    answer_expect_text(get(_i, "/api/defer?do=at-once"), 200, "at once");
    if (_i == HTTP1)
        answer_expect_text(get(_i, "/api/pool/defer?do=at-once"), 200, "at once");
    answer_expect_text(get(_i, "/api/pool/defer?ms=1"), 200, "a page");
}
END_TEST

START_TEST(an_event_finished_wrongly)
{
    answer_expect(get(_i, "/api/defer?do=empty"), 500);
    answer_expect_text(get(_i, "/api/defer?do=twice"), 200, "once");
    answer_expect_text(get(_i, "/api/defer?do=undeferred"), 200, "all the same");
    const struct server *of = _i == HTTP1 ? server : tls;
    server_expect_log(of, (const char *const[]){"defer", "cg_finish without an answer", NULL});
    server_expect_log(of, (const char *const[]){"cg_finish of an event that was finished before", NULL});
    server_expect_log(of, (const char *const[]){"cg_finish of an event that was not deferred", NULL});
}
END_TEST

START_TEST(what_is_never_finished_is_504_and_reported)
{
    struct folder *folder = make_folder();
    struct server *own = server_start(folder, (const char *const[]){"STOP_TIMEOUT=300", NULL});
    answer_expect(client_get(own, HTTP1, "/api/defer/hurry?do=never"), 504);
    server_expect_log(own, (const char *const[]){"defer.so", "/api/defer/hurry", "answered 504", NULL});
    server_stop(own);
}
END_TEST

START_TEST(a_function_hears_that_its_client_has_left)
{
    for (int i = 0; i < 5; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "GET /api/defer?ms=100 HTTP/1.1\r\nHost: x\r\n\r\n");
        pause_ms(5);
        wire_reset(wire);
    }
    while (atoi(get(HTTP1, "/api/defer?do=count")->body) < 5)
        pause_ms(5);
}
END_TEST

/* Nothing is read from either client any more: one has half-closed, the other has sent more than is kept for
 * it. */
START_TEST(case_55_a_reset_is_noticed_though_nothing_is_read)
{
    int before = atoi(get(HTTP1, "/api/defer?do=count")->body);
    char *more = bytes_make(1 << 20, 8);
    for (int i = 0; i < 2; i++) {
        struct wire *wire = wire_open(server->port);
        wire_print(wire, "GET /api/defer?ms=200 HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i == 0)
            wire_half_close(wire);
        else
            wire_send(wire, more, 200000);
        pause_ms(5);
        pause_ms(5);
        wire_reset(wire);
    }
    while (atoi(get(HTTP1, "/api/defer?do=count")->body) < before + 2)
        pause_ms(5);
    free(more);
}
END_TEST

/* Whether the client has left, or was told 504, when the answer came home. */
START_TEST(a_lock_ends_with_its_event_whoever_waits_for_the_answer)
{
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /api/defer?do=lock&ms=100 HTTP/1.1\r\nHost: x\r\n\r\n");
    while (get(HTTP1, "/api/defer?do=lock")->status != 423)
        pause_ms(5);
    wire_reset(wire);
    while (get(HTTP1, "/api/defer?do=lock")->status == 423)
        pause_ms(5);
    answer_expect(get(HTTP1, "/api/defer/hurry?do=lock&ms=300"), 504);
    answer_expect(get(HTTP1, "/api/defer?do=lock"), 423);
    while (get(HTTP1, "/api/defer?do=lock")->status == 423)
        pause_ms(5);
}
END_TEST

START_TEST(outstanding_answers_are_bounded)
{
    struct server *own =
        server_start(make_folder(), (const char *const[]){"THREADS=1", "MAX_DEFERRED=2", NULL});
    struct gate gates[2] = {gate_enter(own), gate_enter(own)};
    struct answer *answer = client_get(own, HTTP1, "/api/defer?do=count");
    answer_expect(answer, 503);
    answer_expect_field(answer, "retry-after", "1");
    answer_expect_text(client_get(own, HTTP1, "/"), 200, "static");
    for (int i = 0; i < 2; i++) {
        gate_open(&gates[i]);
        answer_expect(wire_answer(gates[i].wire, "GET"), 200);
    }
    answer_expect(client_get(own, HTTP1, "/api/defer?do=count"), 200);
    server_stop(own);
}
END_TEST

START_TEST(many_at_once_over_http2)
{
    enum { MANY = 90 };
    struct request requests[MANY];
    struct answer *answers[MANY];
    for (int i = 0; i < MANY; i++)
        requests[i] =
            (struct request){.transport = HTTP2, .path = i % 2 ? "/api/defer?ms=5" : "/api/slow?ms=5"};
    client_send_all(tls, requests, answers, MANY);
    for (int i = 0; i < MANY; i++)
        answer_expect_text(answers[i], 200, i % 2 ? "a page" : "slept 5 ms\n");
}
END_TEST

START_TEST(server_timing_tells_how_long_a_function_took)
{
    struct server *own = server_start(make_folder(), (const char *const[]){"SERVER_TIMING=1", NULL});
    double ms = 0;
    struct answer *answer = client_get(own, HTTP1, "/api/slow?ms=30");
    ck_assert_int_eq(sscanf(answer_field(answer, "server-timing"), "app;dur=%lf", &ms), 1);
    ck_assert_double_ge(ms, 30);
    ck_assert_ptr_null(answer_field(client_get(own, HTTP1, "/"), "server-timing"));
    server_stop(own);
    ck_assert_ptr_null(answer_field(get(HTTP1, "/api/slow?ms=0"), "server-timing"));
}
END_TEST

START_TEST(a_stop_waits_for_functions)
{
    struct folder *folder = make_folder();
    struct server *own = server_start(folder, (const char *const[]){NULL});
    struct gate gate = gate_enter(own);
    kill(own->pid, SIGTERM);
    pause_ms(5);
    gate_open(&gate);
    answer_expect_text(wire_answer(gate.wire, "GET"), 200, "hidden\n");
    wire_expect_end(gate.wire);
    server_stop(own);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("later");
    TCase *pool = harness_case(suite, "pool", setup, teardown);
    tcase_add_loop_test(pool, the_story_slow_sleeps_on_the_pool, HTTP1, HTTP2 + 1);
    tcase_add_test(pool, the_loop_goes_on_while_functions_block);
    tcase_add_loop_test(pool, an_event_is_whole_on_the_pool, HTTP1, HTTP2 + 1);
    tcase_add_test(pool, case_51_pipelined_answers_wait_for_a_slow_one);
    tcase_add_test(pool, case_54_a_half_close_does_not_lose_the_answer);
    tcase_add_test(pool, case_55_clients_that_leave_hurt_nobody);
    tcase_add_test(pool, a_full_queue_is_503_and_what_was_cancelled_never_starts);
    tcase_add_test(pool, a_timeout_is_504_and_the_late_answer_is_dropped);
    tcase_add_loop_test(pool, answers_given_later_from_a_thread, HTTP1, HTTP2 + 1);
    tcase_add_loop_test(pool, an_event_finished_wrongly, HTTP1, HTTP2 + 1);
    tcase_add_test(pool, a_function_hears_that_its_client_has_left);
    tcase_add_test(pool, case_55_a_reset_is_noticed_though_nothing_is_read);
    tcase_add_test(pool, a_lock_ends_with_its_event_whoever_waits_for_the_answer);
    tcase_add_test(pool, outstanding_answers_are_bounded);
    tcase_add_test(pool, many_at_once_over_http2);
    tcase_add_test(pool, server_timing_tells_how_long_a_function_took);
    TCase *alone = harness_case(suite, "alone", NULL, NULL);
    tcase_add_test(alone, what_is_never_finished_is_504_and_reported);
    tcase_add_test(alone, a_stop_waits_for_functions);
    return harness_run(suite);
}
