/* Which function answers a request, under which conditions. */
#include "event.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static struct server *server;

static const char config[] = "global:\n"
                             "  APIKEY: sesame\n"
                             "functions: { autoMount: true }\n"
                             "REST:\n"
                             "  /api/must: { path: echo.so, parametersList: [a, b] }\n"
                             "  /api/private: { path: echo.so, isPrivate: true }\n"
                             "  /api/echo: { path: echo.so }\n"
                             "  /api/methods: { path: methods.so }\n"
                             "  /api/get: { path: echo.so, method: GET }\n"
                             "  /api/users/:id: { path: methods.so, handler: show }\n"
                             "  /api/users/me: { path: echo.so }\n"
                             "  /api/users/:id/posts/:post: { path: echo.so }\n"
                             "  /api/order/:p: { path: look.so }\n"
                             "  /api/small: { path: echo.so, bodyLimit: 10 }\n";

static struct folder *make_folder(void)
{
    struct folder *folder = folder_create();
    folder_print(folder, "apiconfig.yaml", "%s", config);
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/echo.c", "deep/er/echo");
    folder_add_function(folder, "tests/e2e/functions/look.c", "look");
    folder_add_function(folder, "tests/e2e/functions/methods.c", "methods");
    folder_add_function(folder, "tests/e2e/functions/echo.c", "_hidden");
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo_test");
    return folder;
}

static void setup(void)
{
    server = server_start(make_folder(), (const char *const[]){NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static const char *look_at(const char *what, const char *target, const char *type, const char *body)
{
    const char *const fields[] = {text_print("X-Look: %s", what),
                                  type ? text_print("Content-Type: %s", type) : NULL, NULL};
    struct answer *answer = client_send(
        server,
        &(struct request){.path = target, .fields = fields, .body = body, .len = body ? strlen(body) : 0});
    answer_expect(answer, 200);
    return answer->body;
}

START_TEST(parameters_are_looked_up_in_order)
{
    const char *form = "application/x-www-form-urlencoded", *json = "application/json";
    ck_assert_str_eq(look_at("param p", "/api/order/path?p=query", form, "p=form"), "[path]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", form, "q=form"), "[form]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", json, "{\"q\": \"json\"}"), "[json]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", json, "{\"q\": 17}"), "[17]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", json, "{\"q\": true}"), "[true]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", json, "{\"other\": 1}"), "[query]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", json, "{not json"), "[query]");
    ck_assert_str_eq(look_at("param q", "/api/order/path?q=query", NULL, NULL), "[query]");
    ck_assert_str_eq(look_at("param q", "/api/order/path", NULL, NULL), "absent");
    ck_assert_str_eq(look_at("path p", "/api/order/a%2Fb", NULL, NULL), "[a/b]");
}
END_TEST

static void expect_missing(const struct answer *answer, const char *list)
{
    answer_expect(answer, 400);
    json_t *body = answer_json(answer);
    ck_assert_ptr_nonnull(strstr(answer_field(answer, "content-type"), "application/json"));
    ck_assert_str_eq(json_string_value(json_object_get(body, "status")), "KO");
    ck_assert_str_eq(json_string_value(json_object_get(body, "code")), "MissingMandatoryParams");
    ck_assert_str_eq(json_dumps(json_object_get(body, "list"), JSON_COMPACT), list);
}

START_TEST(routes_insist_on_their_parameters)
{
    expect_missing(client_get(server, HTTP1, "/api/must"), "[\"a\",\"b\"]");
    expect_missing(client_get(server, HTTP1, "/api/must?a=1"), "[\"b\"]");
    answer_expect(client_get(server, HTTP1, "/api/must?a=1&b="), 200);
    answer_expect(client_post(server, HTTP1, "/api/must?a=1", "application/x-www-form-urlencoded", "b=1", 3),
                  200);
    answer_expect(client_post(server, HTTP1, "/api/must?a=1", "application/json", "{\"b\": 0}", 8), 200);
    expect_missing(client_post(server, HTTP1, "/api/must", "application/json", "{\"b\"", 4), "[\"a\",\"b\"]");
}
END_TEST

START_TEST(private_routes_insist_on_the_key)
{
    static const char *const targets[] = {"/api/private",
                                          "/api/private?apiKey=",
                                          "/api/private?apiKey=sesam",
                                          "/api/private?apiKey=sesamee",
                                          "/api/private?apiKey=sesame%00x",
                                          "/api/private?apikey=sesame",
                                          "/api/private?apiKey=Sesame",
                                          "//api/private",
                                          "/api/./private"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct answer *answer = client_get(server, HTTP1, targets[i]);
        answer_expect(answer, 403);
        json_t *body = answer_json(answer);
        ck_assert_str_eq(json_string_value(json_object_get(body, "status")), "KO");
        ck_assert_str_eq(json_string_value(json_object_get(body, "code")), "BAD_API_KEY");
        ck_assert_str_eq(json_string_value(json_object_get(body, "details")), "Wrong or no apiKey received.");
    }
    answer_expect(client_get(server, HTTP1, "/api/private?apiKey=sesame"), 200);
    const char *const right[] = {"X-Api-Key: sesame", NULL}, *const wrong[] = {"x-api-key: sesam", NULL};
    answer_expect(client_send(server, &(struct request){.path = "/api/private", .fields = right}), 200);
    answer_expect(client_send(server, &(struct request){.path = "/api/private", .fields = wrong}), 403);
}
END_TEST

static struct answer *ask(const char *method, const char *path)
{
    return client_send(server, &(struct request){.method = method, .path = path});
}

START_TEST(methods_that_a_route_does_not_have)
{
    struct answer *answer = ask("DELETE", "/api/methods");
    answer_expect(answer, 405);
    answer_expect_field(answer, "allow", "GET, HEAD, PUT, OPTIONS");
    answer = ask("POST", "/api/get");
    answer_expect(answer, 405);
    answer_expect_field(answer, "allow", "GET, HEAD, OPTIONS");
    answer_expect(ask("get", "/api/get"), 405);
    answer_expect(ask("BREW", "/api/get"), 405);
    answer_expect_text(ask("PUT", "/api/methods"), 200, "put");
    answer = ask("HEAD", "/api/methods");
    answer_expect_text(answer, 200, "");
    answer_expect_field(answer, "content-length", "3");
    answer = ask("OPTIONS", "/api/methods");
    ck_assert(answer->status == 200 || answer->status == 204);
    answer_expect_field(answer, "allow", "GET, HEAD, PUT, OPTIONS");
    event_expect_text(event_of(ask("BREW", "/api/echo")), "method", "BREW");
}
END_TEST

START_TEST(routes_with_parameters)
{
    answer_expect_text(client_get(server, HTTP1, "/api/users/7"), 200, "shown 7");
    answer_expect_text(client_get(server, HTTP1, "/api/users/a%20b%C3%A9"), 200, "shown a b\xc3\xa9");
    event_expect_text(event_of(client_get(server, HTTP1, "/api/users/me")), "route", "/api/users/me");
    answer_expect(client_get(server, HTTP1, "/api/users/"), 404);
    answer_expect(client_get(server, HTTP1, "/api/users"), 404);
    answer_expect(client_get(server, HTTP1, "/api/users/7/"), 404);
    answer_expect(client_get(server, HTTP1, "/api/users/7/posts"), 404);
}
END_TEST

START_TEST(functions_are_mounted_by_themselves)
{
    event_expect_text(event_of(client_get(server, HTTP1, "/api/deep/er/echo")), "route", "/api/deep/er/echo");
    event_expect_text(event_of(client_get(server, HTTP1, "//api//deep/er/./echo")), "path",
                      "/api/deep/er/echo");
    answer_expect(client_get(server, HTTP1, "/api/_hidden"), 404);
    answer_expect(client_get(server, HTTP1, "/api/echo_test"), 404);
    answer_expect(client_get(server, HTTP1, "/api/ECHO"), 404);
    answer_expect(client_get(server, HTTP1, "/api/none"), 404);
}
END_TEST

START_TEST(a_route_has_its_own_body_limit)
{
    answer_expect(client_post(server, HTTP1, "/api/small", NULL, "0123456789", 10), 200);
    answer_expect(client_post(server, HTTP1, "/api/small", NULL, "0123456789x", 11), 413);
}
END_TEST

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        count++;
    return count;
}

START_TEST(the_hooks_of_a_module_run_once_a_process_and_thread)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/methods.c", "methods");
    struct server *own = server_start(folder, (const char *const[]){"THREADS=3", NULL});
    answer_expect_text(client_get(own, HTTP1, "/api/methods"), 200, "got");
    server_stop(own);
    char *log = server_errors(own);
    ck_assert_uint_eq(count_of(log, "hook init"), 1);
    ck_assert_uint_eq(count_of(log, "hook fini"), 1);
    ck_assert_uint_eq(count_of(log, "hook thread_init"), 3);
    ck_assert_uint_eq(count_of(log, "hook thread_fini"), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("route");
    TCase *routes = harness_case(suite, "routes", setup, teardown);
    tcase_add_test(routes, parameters_are_looked_up_in_order);
    tcase_add_test(routes, routes_insist_on_their_parameters);
    tcase_add_test(routes, private_routes_insist_on_the_key);
    tcase_add_test(routes, methods_that_a_route_does_not_have);
    tcase_add_test(routes, routes_with_parameters);
    tcase_add_test(routes, functions_are_mounted_by_themselves);
    tcase_add_test(routes, a_route_has_its_own_body_limit);
    TCase *hooks = harness_case(suite, "hooks", NULL, NULL);
    tcase_add_test(hooks, the_hooks_of_a_module_run_once_a_process_and_thread);
    return harness_run(suite);
}
