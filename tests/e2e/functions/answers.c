/* ANY ?do=NAME -> one way of answering each; see answer_test.c. */
#include <cloudgate.h>
#include <jansson.h>
#include <stdlib.h>

static void nothing(cg_event *event)
{
    (void)event;
}

static void status(cg_event *event)
{
    cg_status(event, 202);
}

static void bad_status(cg_event *event)
{
    cg_status(event, 999);
    cg_print(event, "never seen");
}

static void print(cg_event *event)
{
    cg_print(event, "%s-%d", "printed", 1);
    cg_write(event, "\0and written", 12);
}

static void twice(cg_event *event)
{
    cg_set_header(event, "x-first", "stays");
    cg_reply(event, 500, "text/html", "the first answer, and a longer one");
    cg_reply(event, 201, "text/css", "second");
}

/* What case 108 describes: the client's text goes into two fields unchecked. */
static void copy(cg_event *event)
{
    const char *next = cg_query(event, "next"), *cookie = cg_query(event, "c");
    if (next != NULL)
        cg_set_header(event, "Location", next);
    if (cookie != NULL)
        cg_set_cookie(event, "c", cookie, NULL);
    cg_reply(event, 303, "text/plain", "never seen when it injects");
}

static void redirect(cg_event *event)
{
    int64_t code = 302;
    (void)!cg_parse_int(cg_query(event, "status"), 0, 999, &code);
    cg_redirect(event, (int)code, cg_query(event, "next"));
}

static void field_name(cg_event *event)
{
    cg_set_header(event, cg_query(event, "name"), "value");
    cg_reply(event, 200, "text/plain", "never seen");
}

static void null_value(cg_event *event)
{
    cg_set_header(event, "x-null", NULL);
    cg_reply(event, 200, "text/plain", "never seen");
}

static void cookies(cg_event *event)
{
    char *large = cg_alloc(event, 4001);
    memset(large, 'x', 4000);
    cg_set_cookie(event, "large", large, "Path=/");
    cg_set_cookie(event, "dated", "1", "Expires=Sun, 06 Nov 2094 08:49:37 GMT; HttpOnly");
    cg_add_header(event, "x-many", "1");
    cg_add_header(event, "X-Many", "2");
    cg_set_header(event, "content-type", "text/html");
    cg_set_header(event, "Content-Type", "text/css");
    cg_write(event, "body", 4);
}

static void framing(cg_event *event)
{
    cg_set_header(event, "Content-Length", "3");
    cg_set_header(event, "Transfer-Encoding", "chunked");
    cg_set_header(event, "Connection", "x-secret");
    cg_set_header(event, "Keep-Alive", "timeout=9");
    cg_set_header(event, "Upgrade", "h3");
    cg_set_header(event, "x-kept", "yes");
    cg_reply(event, 200, "text/plain", "ten bytes!");
}

static void json(cg_event *event)
{
    cg_reply_json(event, 201, json_pack("{s:s, s:[i, i]}", "name", "\xc3\xa9 \"quoted\"", "list", 1, 2));
}

static void json_null_pointer(cg_event *event)
{
    cg_reply_json(event, 200, NULL);
}

static void json_whole(cg_event *event)
{
    json_t *body = cg_json(event);
    if (body != NULL)
        cg_reply(event, 200, "text/plain", "%zu members", json_object_size(body));
}

static void json_read(cg_event *event)
{
    const char *name;
    int age;
    if (cg_json_read(event, "{s:s, s:i}", "name", &name, "age", &age) == 0)
        cg_reply(event, 200, "text/plain", "%s is %d", name, age);
}

static void quote(cg_event *event)
{
    cg_reply(event, 200, "application/json", "[%s]", cg_json_quote(event, cg_query(event, "text")));
}

static void html(cg_event *event)
{
    cg_reply(event, 200, "text/html", "%s", cg_html(event, cg_query(event, "text")));
}

static void template(cg_event *event)
{
    cg_field values[] = {{cg_string("x"), cg_string(cg_query(event, "x"))}};
    cg_reply_template(event, 200, "page.html", values, 1);
}

static void no_template(cg_event *event)
{
    cg_reply_template(event, 200, "missing.html", NULL, 0);
}

static void file(cg_event *event)
{
    cg_reply_file(event, 200, "application/x-test", cg_query(event, "path"));
}

static void large(cg_event *event)
{
    int64_t size = 0;
    if (cg_parse_int(cg_query(event, "size"), 0, 100000000, &size) != 0)
        return;
    char *data = cg_alloc(event, (size_t)size + 1);
    for (int64_t i = 0; i < size; i++)
        data[i] = (char)(i * 31 + i / 251);
    cg_reply_bytes(event, 200, "application/octet-stream", data, (size_t)size);
}

static void time_text(cg_event *event)
{
    cg_reply(event, 200, "text/plain", "%s", cg_time_text(event, 784111777000));
}

static void env(cg_event *event)
{
    const char *value = cg_env(cg_query(event, "name"));
    cg_reply(event, 200, "text/plain", "%s", value ? value : "(unset)");
}

static void log_line(cg_event *event)
{
    cg_log(event, CG_ERROR, "the function says %s", cg_query(event, "text"));
}

static const struct {
    const char *name;
    cg_handler *answer;
} ways[] = {
    {"nothing", nothing},
    {"status", status},
    {"bad_status", bad_status},
    {"print", print},
    {"twice", twice},
    {"copy", copy},
    {"redirect", redirect},
    {"field_name", field_name},
    {"null_value", null_value},
    {"cookies", cookies},
    {"framing", framing},
    {"json", json},
    {"json_null", json_null_pointer},
    {"json_whole", json_whole},
    {"json_read", json_read},
    {"quote", quote},
    {"html", html},
    {"template", template},
    {"no_template", no_template},
    {"file", file},
    {"large", large},
    {"time_text", time_text},
    {"env", env},
    {"log", log_line},
};

static void answer(cg_event *event)
{
    const char *name = cg_query(event, "do");
    for (size_t i = 0; name != NULL && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, name) == 0) {
            ways[i].answer(event);
            return;
        }
    }
    cg_reply(event, 404, "text/plain", "no such way\n");
}

CG_MODULE(.handle = answer);
