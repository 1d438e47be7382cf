#include "app/access_line.h"

#include "suite.h"

#include <jansson.h>
#include <string.h>

static struct access_entry make_entry(cg_str target, cg_str agent)
{
    return (struct access_entry){.time = INT64_C(971211336123),
                                 .ip = cg_string("192.0.2.7"),
                                 .method = cg_string("GET"),
                                 .target = target,
                                 .version = "HTTP/1.1",
                                 .status = 200,
                                 .bytes = 2326,
                                 .ms = 12,
                                 .host = cg_string("x.test"),
                                 .agent = agent,
                                 .id = cg_string("abc")};
}

static void expect_line(enum access_format format, const struct access_entry *entry, const char *expected)
{
    struct buffer out = {0};
    access_line(&out, format, entry);
    ck_assert_str_eq(out.data, expected);
    buffer_finish(&out);
}

START_TEST(formats)
{
    struct access_entry entry = make_entry(cg_string("/a?b=c"), cg_string("curl/8"));
    expect_line(ACCESS_COMMON, &entry,
                "192.0.2.7 - - [10/Oct/2000:20:55:36 +0000] \"GET /a?b=c HTTP/1.1\" 200 2326\n");
    expect_line(
        ACCESS_COMBINED, &entry,
        "192.0.2.7 - - [10/Oct/2000:20:55:36 +0000] \"GET /a?b=c HTTP/1.1\" 200 2326 \"-\" \"curl/8\"\n");
    expect_line(ACCESS_JSON, &entry,
                "{\"time\":\"2000-10-10T20:55:36.123Z\",\"ip\":\"192.0.2.7\",\"method\":\"GET\",\"target\":"
                "\"/a?b=c\","
                "\"version\":\"HTTP/"
                "1.1\",\"status\":200,\"bytes\":2326,\"ms\":12,\"host\":\"x.test\",\"referer\":null,"
                "\"agent\":\"curl/8\",\"id\":\"abc\"}\n");
    entry.method.ptr = NULL;
    entry.bytes = -1;
    expect_line(ACCESS_COMMON, &entry, "192.0.2.7 - - [10/Oct/2000:20:55:36 +0000] \"-\" 200 -\n");
}
END_TEST

START_TEST(case_107_what_a_client_sends_stays_in_its_field)
{
    static const char agent[] = "a\" 200 \"b\\ \x1b[31m\xff\n\r\x7f \xce\xba";
    struct access_entry entry = make_entry(cg_string("/x%0a\"y"), cg_bytes(agent, sizeof agent - 1));
    expect_line(ACCESS_COMBINED, &entry,
                "192.0.2.7 - - [10/Oct/2000:20:55:36 +0000] \"GET /x%0a\\\"y HTTP/1.1\" 200 2326 \"-\" "
                "\"a\\\" 200 \\\"b\\\\ \\x1b[31m\\xff\\x0a\\x0d\\x7f \xce\xba\"\n");
    struct buffer out = {0};
    access_line(&out, ACCESS_JSON, &entry);
    ck_assert_ptr_eq(strchr(out.data, '\n'), out.data + out.len - 1);
    json_t *json = json_loads(out.data, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(json_string_value(json_object_get(json, "target")), "/x%0a\"y");
    ck_assert_str_eq(json_string_value(json_object_get(json, "agent")),
                     "a\" 200 \"b\\ \x1b[31m\xc3\xbf\n\r\x7f \xce\xba");
    json_decref(json);
    buffer_finish(&out);
}
END_TEST

SUITE_MAIN("access_line", formats, case_107_what_a_client_sends_stays_in_its_field)
