/* Section WEBSOCKET of the config file. */
#include "config/file.h"

#include "base/buffer.h"
#include "config/describe.h"
#include "config/settings.h"
#include "suite.h"

#include <string.h>

static struct settings *parse(const char *text, char **ret_error)
{
    struct settings *settings = NULL;
    *ret_error = NULL;
    return file_parse_alone(cg_string(text), false, "/srv", &settings, ret_error) == 0 ? settings : NULL;
}

START_TEST(case_94_what_is_wrong_is_told)
{
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"WEBSOCKET: {/c: {path: c, method: GET}}\n", "in a route of section REST"},
        {"REST: {/c: {path: c, origins: x}}\n", "in a route of section WEBSOCKET"},
        {"WEBSOCKET: {/c: {path: c, origin: x}}\n", "did you mean 'origins'?"},
        {"WEBSOCKET: {/c: {path: c, takeovr: true}}\n", "did you mean 'takeover'?"},
        {"REST: {/c: {path: c, takeover: true}}\n", "in a route of section WEBSOCKET"},
        {"WEBSOCKET: {/c: {path: c, origins: evil.test}}\n", "'evil.test' is no origin"},
        {"WEBSOCKET: {/c: {path: c, origins: [\"http://a.test\", \"http://A.test:80\"]}}\n", "twice"},
        {"WEBSOCKET: {/c: {path: c, origins: []}}\n", "the list is empty"},
        {"WEBSOCKET: {/c: {path: c, protocols: \"a b\"}}\n", "'a b' is no token"},
        {"WEBSOCKET: {/c: {path: c, slow: wait}}\n", "'wait' is neither close nor drop"},
        {"WEBSOCKET: {/c: {path: c, messageLimit: 0}}\n", "messageLimit: "},
        {"WEBSOCKET: {/c: {path: c, queueLimit: 1}}\n", "queueLimit: "},
        {"WEBSOCKET: {/c: {path: c, pingInterval: 5}}\n", "pingInterval: "},
        {"WEBSOCKET: {/c: {path: c.js}}\n", "docs/moving.md"},
        {"REST: {/a/:x: {path: c}}\nWEBSOCKET: {/a/:y: {path: c}}\n", "'/a/:y' matches what '/a/:x'"},
        {"WEBSOCKET: {/a/:x: {path: c}, /a/:y: {path: c}}\n", "'/a/:y' matches what '/a/:x'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *error;
        ck_assert_msg(parse(rows[i].text, &error) == NULL, "accepted: %s", rows[i].text);
        ck_assert_msg(strstr(error, rows[i].told) != NULL, "%s: %s", rows[i].text, error);
        free(error);
    }
}
END_TEST

START_TEST(what_is_right_is_taken)
{
    char *error;
    struct settings *settings = parse("REST: {/chat: {path: page}}\n"
                                      "WEBSOCKET:\n"
                                      "  /chat:\n"
                                      "    path: chat.so\n"
                                      "    origins: \"https://A.test, http://b.test:8080\"\n"
                                      "    protocols: [one, two]\n"
                                      "    messageLimit: 16k\n"
                                      "    queueLimit: 64k\n"
                                      "    slow: drop\n"
                                      "    pingInterval: 5s\n"
                                      "    idleTimeout: 2m\n"
                                      "  /open: {path: chat, origins: \"*\", compress: false}\n",
                                      &error);
    ck_assert_msg(settings != NULL, "%s", error);
    ck_assert_uint_eq(settings->route_count, 3);
    const struct socket_rules *rules = &settings->routes[1].socket, *open = &settings->routes[2].socket;
    ck_assert(settings->routes[1].is_socket && !settings->routes[0].is_socket);
    ck_assert_uint_eq(rules->origin_count, 2);
    ck_assert_str_eq(rules->origins[0].ptr, "https://a.test");
    ck_assert_uint_eq(rules->protocol_count, 2);
    ck_assert_uint_eq(rules->message_limit, 16384);
    ck_assert_uint_eq(rules->queue_limit, 65536);
    ck_assert(rules->drop);
    ck_assert_int_eq(rules->ping_interval, 5000);
    ck_assert_int_eq(rules->pong_timeout, 0);
    ck_assert_int_eq(rules->idle_timeout, 120000);
    ck_assert(open->any_origin && settings->routes[2].plain);
    char *text = settings_describe(settings);
    ck_assert_msg(strstr(text, "/chat -> chat.so WebSocket, from https://a.test http://b.test:8080, "
                               "speaks one two, messages up to 16") != NULL,
                  "%s", text);
    free(text);
    settings_destroy(settings);
}
END_TEST

SUITE_MAIN("socket_rules", case_94_what_is_wrong_is_told, what_is_right_is_taken)
