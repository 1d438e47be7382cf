/* The samples that come with the server, built by it. */
#include "harness.h"
#include "socket.h"

#include <string.h>

static struct server *server;

static void copy(const struct folder *folder, const char *name)
{
    struct folder project = {"."};
    size_t len;
    char *path = text_print("functions/%s", name), *text = folder_read(&project, path, &len);
    folder_write(folder, path, text, len);
}

static void setup(void)
{
    struct folder *folder = folder_create();
    char *output;
    copy(folder, "counter.c");
    copy(folder, "clock.c");
    copy(folder, "chat.c");
    copy(folder, "guestbook.c");
    ck_assert_msg(server_run(folder, (const char *const[]){NULL},
                             (const char *const[]){"build", folder->path, NULL}, &output) == 0,
                  "%s", output);
    server = server_start(
        folder, (const char *const[]){text_print("GUESTBOOK=%s", folder_path(folder, "guests.db")), NULL});
}

static void teardown(void)
{
    server_stop(server);
}

START_TEST(counter)
{
    answer_expect_text(client_get(server, HTTP1, "/api/counter"), 200, "{\"value\":0}\n");
    answer_expect_text(client_post(server, HTTP1, "/api/counter?by=5", NULL, "", 0), 200, "{\"value\":5}\n");
    answer_expect(client_post(server, HTTP1, "/api/counter?by=x", NULL, "", 0), 400);
}
END_TEST

START_TEST(clock_tells_the_time)
{
    char line[64];
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /api/clock HTTP/1.0\r\nHost: x.test\r\n\r\n");
    ck_assert(wire_take(wire, line, 12));
    ck_assert_int_eq(strncmp(line, "HTTP/1.1 200", 12), 0);
    wire_close(wire);
}
END_TEST

START_TEST(chat)
{
    struct socket_frame frame;
    answer_expect(socket_refused(server, HTTP1, "/api/chat", ""), 400);
    struct socket *ann = socket_open(server, HTTP1, "/api/chat?name=Ann", "", NULL);
    socket_expect_text(ann, "{\"what\":\"joined\",\"name\":\"Ann\",\"present\":1}");
    socket_text(ann, "a \"quoted\" word");
    ck_assert(socket_next(ann, &frame));
    ck_assert_ptr_nonnull(strstr(frame.data, "\"text\":\"a \\\"quoted\\\" word\""));
    socket_finish(ann);
}
END_TEST

START_TEST(guestbook)
{
    static const char entry[] = "name=Ann&text=it's+%22nice%22";
    answer_expect_text(client_get(server, HTTP1, "/api/guestbook"), 200, "[]");
    for (int i = 0; i < 30; i++)
        answer_expect(client_post(server, HTTP1, "/api/guestbook", "application/x-www-form-urlencoded", entry,
                                  sizeof entry - 1),
                      303);
    json_t *entries = answer_json(client_get(server, HTTP1, "/api/guestbook"));
    ck_assert_uint_eq(json_array_size(entries), 20);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(entries, 0), "text")), "it's \"nice\"");
    answer_expect(client_post(server, HTTP1, "/api/guestbook", NULL, "", 0), 400);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("samples");
    TCase *tests = harness_case(suite, "samples", setup, teardown);
    tcase_add_test(tests, counter);
    tcase_add_test(tests, clock_tells_the_time);
    tcase_add_test(tests, chat);
    tcase_add_test(tests, guestbook);
    return harness_run(suite);
}
