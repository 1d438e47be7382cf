#include "app/router.h"
#include "base/alloc.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static void handle(cg_event *event)
{
    (void)event;
}

static void get(cg_event *event)
{
    (void)event;
}

static void head(cg_event *event)
{
    (void)event;
}

static void post(cg_event *event)
{
    (void)event;
}

#define BIT(method) (1u << METHOD_##method)
#define PATTERN(text) .pattern = {text, sizeof(text) - 1}
#define PATH(text) .path = {text, sizeof(text) - 1}

static struct module both = {
    .name = "both", .file = "functions/both.so", .hooks = {.get = get, .post = post}};
static struct module broken = {
    .name = "broken", .file = "functions/broken.so", .error = "functions/broken.so: bad"};
static struct module every = {.name = "every", .file = "functions/every.so", .hooks = {.handle = handle}};
static struct module headed = {
    .name = "headed", .file = "functions/headed.so", .hooks = {.get = get, .head = head, .handle = handle}};
static struct module none = {.name = "none", .file = "functions/none.so"};
static struct module odd = {
    .name = "odd/:a%2Fb c", .file = "functions/odd/:a%2Fb c.so", .hooks = {.handle = handle}};
static struct module *all[] = {&both, &broken, &every, &headed, &none, &odd};
static const struct modules modules = {all, sizeof all / sizeof *all};

static struct router *create(const struct route_setting *routes, size_t count, bool auto_mount)
{
    struct settings settings = {
        .body_limit = 1000, .auto_mount = auto_mount, .routes = routes, .route_count = count};
    return router_create(&settings, &modules);
}

#define CREATE(routes, auto_mount) create(routes, sizeof(routes) / sizeof *(routes), auto_mount)

static const struct route *find(const struct router *router, const char *path)
{
    struct match match;
    return router_find(router, cg_string(path), &match) ? match.route : NULL;
}

START_TEST(literals_win_over_parameters)
{
    static const struct route_setting routes[] = {
        {PATTERN("/u/:id"), PATH("every")},       {PATTERN("/u/me"), PATH("every")},
        {PATTERN("/u/me/:tab"), PATH("every")},   {PATTERN("/u/:id/posts"), PATH("every")},
        {PATTERN("/:a/:b/:c/:d"), PATH("every")}, {PATTERN("/u/:id/x/"), PATH("every")},
    };
    static const struct {
        const char *path, *pattern;
        const char *values[4];
    } cases[] = {
        {"/u/me", "/u/me", {0}},
        {"/u/you", "/u/:id", {"you"}},
        {"/u/a b", "/u/:id", {"a b"}},
        {"/u/a%2Fb", "/u/:id", {"a%2Fb"}},
        {"/u/:id", "/u/:id", {":id"}},
        {"/u/", NULL, {0}},
        {"/u", NULL, {0}},
        {"/u/you/", NULL, {0}},
        {"/u/me/", NULL, {0}},
        {"/U/me", NULL, {0}},
        {"/u/me/posts", "/u/me/:tab", {"posts"}},
        {"/u/you/posts", "/u/:id/posts", {"you"}},
        {"/u/you/x/", "/u/:id/x/", {"you"}},
        {"/u/you/x", NULL, {0}},
        {"/u/me/x/y", "/:a/:b/:c/:d", {"u", "me", "x", "y"}}, /* back from two literals */
        {"/u/me/x/y/z", NULL, {0}},
        {"/", NULL, {0}},
        {"", NULL, {0}},
    };
    struct router *router = CREATE(routes, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct match match;
        bool found = router_find(router, cg_string(cases[i].path), &match);
        ck_assert_msg(found == (cases[i].pattern != NULL), "%s", cases[i].path);
        if (!found)
            continue;
        ck_assert_str_eq(match.route->pattern.ptr, cases[i].pattern);
        size_t count = 0;
        for (; count < 4 && cases[i].values[count] != NULL; count++) {
            cg_str value = match.params[count].value;
            ck_assert_msg(value.len == strlen(cases[i].values[count]) &&
                              memcmp(value.ptr, cases[i].values[count], value.len) == 0,
                          "%s: %.*s", cases[i].path, (int)value.len, value.ptr);
        }
        ck_assert_uint_eq(match.count, count);
    }
    struct match match;
    ck_assert(router_find(router, cg_string("/1/2/3/4"), &match));
    ck_assert_uint_eq(match.params[2].name.len, 1);
    ck_assert_int_eq(match.params[2].name.ptr[0], 'c');
    ck_assert_uint_eq(router_count(router), 6);
    ck_assert_str_eq(router_route(router, 1)->pattern.ptr, "/u/me");
    router_destroy(router);
}
END_TEST

START_TEST(methods_and_their_fallbacks)
{
    struct router *router = create(NULL, 0, true);
    const struct route *route = find(router, "/api/both");
    ck_assert_str_eq(route->allow, "GET, HEAD, POST, OPTIONS");
    ck_assert_ptr_eq(route->actions[METHOD_GET]->handler, get);
    ck_assert_ptr_eq(route->actions[METHOD_HEAD], route->actions[METHOD_GET]);
    ck_assert_ptr_eq(route->actions[METHOD_POST]->handler, post);
    ck_assert_ptr_null(route->actions[METHOD_PUT]);
    ck_assert_ptr_null(route->actions[METHOD_OPTIONS]);
    ck_assert_ptr_null(route->actions[METHOD_COUNT]);

    route = find(router, "/api/every");
    ck_assert_str_eq(route->allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    for (int method = 0; method <= METHOD_COUNT; method++)
        if (method == METHOD_OPTIONS)
            ck_assert_ptr_null(route->actions[method]);
        else
            ck_assert_ptr_eq(route->actions[method]->handler, handle);

    route = find(router, "/api/headed");
    ck_assert_ptr_eq(route->actions[METHOD_GET]->handler, get);
    ck_assert_ptr_eq(route->actions[METHOD_HEAD]->handler, head);
    ck_assert_ptr_eq(route->actions[METHOD_PUT]->handler, handle);
    router_destroy(router);
}
END_TEST

START_TEST(what_can_not_be_called_says_why)
{
    static const struct route_setting routes[] = {
        {PATTERN("/post"), PATH("both"), .methods = BIT(GET) | BIT(PUT)},
        {PATTERN("/show"), PATH("both"), .handler = {"show", 4}},
    };
    struct router *router = CREATE(routes, true);
    const struct action *action = find(router, "/api/broken")->actions[METHOD_GET];
    ck_assert_ptr_null(action->handler);
    ck_assert_str_eq(action->unavailable, "functions/broken.so: bad");
    action = find(router, "/api/none")->actions[METHOD_POST];
    ck_assert_ptr_null(action->handler);
    ck_assert_str_eq(action->unavailable, "functions/none.so: has no handler in its CG_MODULE(...)");

    const struct route *route = find(router, "/post");
    ck_assert_ptr_eq(route->actions[METHOD_GET]->handler, get);
    ck_assert_str_eq(route->actions[METHOD_PUT]->unavailable, "functions/both.so: has no handler for PUT");
    ck_assert_ptr_null(route->actions[METHOD_POST]); /* the route does not want it */
    ck_assert_str_eq(route->allow, "GET, HEAD, PUT, OPTIONS");
    route = find(router, "/show");
    ck_assert_str_eq(route->actions[METHOD_GET]->unavailable, "functions/both.so: has no CG_HANDLER(show)");
    ck_assert_ptr_null(find(router, "/api/both")); /* it has routes */
    router_destroy(router);
}
END_TEST

START_TEST(what_a_setting_says)
{
    static const cg_str parameters[] = {{"id", 2}};
    static const struct route_setting routes[] = {
        {PATTERN("/x/:id"), PATH("headed"), .methods = BIT(GET), .is_private = true, .body_limit = 5},
        {PATTERN("/y/:id"), PATH("both"), .methods = BIT(POST), .parameters = parameters,
         .parameter_count = 1},
        {PATTERN("/options"), PATH("every"), .methods = BIT(OPTIONS)},
    };
    struct router *router = CREATE(routes, false);
    const struct route *route = find(router, "/x/1");
    ck_assert_ptr_eq(route->actions[METHOD_GET]->handler, get);
    ck_assert_ptr_eq(route->actions[METHOD_GET]->module, &headed);
    ck_assert(route->actions[METHOD_GET]->is_private);
    ck_assert_uint_eq(route->actions[METHOD_GET]->body_limit, 5);
    ck_assert_ptr_eq(route->actions[METHOD_HEAD]->handler, head);
    ck_assert(route->actions[METHOD_HEAD]->is_private); /* GET's rules */
    ck_assert_ptr_null(route->actions[METHOD_POST]);
    ck_assert_str_eq(route->allow, "GET, HEAD, OPTIONS");
    route = find(router, "/y/1");
    ck_assert_uint_eq(route->actions[METHOD_POST]->parameter_count, 1);
    ck_assert(!route->actions[METHOD_POST]->is_private);
    ck_assert_uint_eq(route->actions[METHOD_POST]->body_limit, 1000);
    ck_assert_ptr_null(route->actions[METHOD_GET]);
    ck_assert_ptr_eq(find(router, "/options")->actions[METHOD_OPTIONS]->handler, handle);
    ck_assert_str_eq(find(router, "/options")->allow, "OPTIONS");
    ck_assert_uint_eq(router_count(router), 3);
    router_destroy(router);
}
END_TEST

START_TEST(mounting)
{
    static const struct route_setting routes[] = {{PATTERN("/api/every"), PATH("both")}};
    struct router *router = CREATE(routes, true);
    ck_assert_ptr_eq(find(router, "/api/every")->actions[METHOD_GET]->module, &both); /* the file's wins */
    /* A colon in a file name is a colon, and what looks like an escape is none. */
    ck_assert_ptr_nonnull(find(router, "/api/odd/:a%252Fb c"));
    ck_assert_ptr_null(find(router, "/api/odd/x"));
    ck_assert_ptr_null(find(router, "/api/headed/"));
    ck_assert_ptr_null(find(router, "/headed"));
    router_destroy(router);
    router = create(NULL, 0, false);
    ck_assert_ptr_null(find(router, "/api/every"));
    ck_assert_uint_eq(router_count(router), 0);
    router_destroy(router);
}
END_TEST

START_TEST(many_routes)
{
    enum { COUNT = 2000 };
    struct route_setting *routes = xzalloc(COUNT * sizeof *routes);
    for (int i = 0; i < COUNT; i++) {
        char *pattern = xsprintf(i % 2 ? "/r/%d/:x/%d" : "/r/%d", i, i);
        routes[i] = (struct route_setting){.pattern = cg_string(pattern), PATH("every"), .line = i + 1};
    }
    struct router *router = create(routes, COUNT, false);
    for (int i = 0; i < COUNT; i++) {
        char *path = xsprintf(i % 2 ? "/r/%d/:x/%d" : "/r/%d", i, i);
        ck_assert_str_eq(find(router, path)->pattern.ptr, routes[i].pattern.ptr);
        free(path);
    }
    ck_assert_ptr_null(find(router, "/r/1/:x/3"));
    router_destroy(router);
    for (int i = 0; i < COUNT; i++)
        free((char *)routes[i].pattern.ptr);
    free(routes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("router");
    TCase *tests = tcase_create("router");
    tcase_add_test(tests, literals_win_over_parameters);
    tcase_add_test(tests, methods_and_their_fallbacks);
    tcase_add_test(tests, what_can_not_be_called_says_why);
    tcase_add_test(tests, what_a_setting_says);
    tcase_add_test(tests, mounting);
    tcase_add_test(tests, many_routes);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
