/* Multipart forms, as a function sees them. */
#include "event.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static struct server *server;

static void setup(void)
{
    struct folder *folder = folder_create();
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/stories/upload.c", "upload");
    server = server_start(folder, (const char *const[]){"BODY_LIMIT=33554432", "THREADS=1", NULL});
}

static void teardown(void)
{
    server_stop(server);
}

/* A body as it is put together. */
struct form {
    char *text;
    size_t len, capacity;
};

static void add(struct form *form, const void *data, size_t len)
{
    if (form->len + len >= form->capacity) {
        form->capacity = 2 * (form->len + len) + 1;
        form->text = realloc(form->text, form->capacity);
        ck_assert_ptr_nonnull(form->text);
    }
    memcpy(form->text + form->len, data, len);
    form->len += len;
    form->text[form->len] = '\0';
}

static void add_text(struct form *form, const char *text)
{
    add(form, text, strlen(text));
}

/* head: the field lines of the part, each with CRLF. */
static void add_part(struct form *form, const char *head, const void *data, size_t len)
{
    add_text(form, "--BOUND\r\n");
    add_text(form, head);
    add_text(form, "\r\n");
    add(form, data, len);
    add_text(form, "\r\n");
}

static void add_end(struct form *form)
{
    add_text(form, "--BOUND--\r\n");
}

static struct answer *post(const struct form *form)
{
    return client_post(server, HTTP1, "/api/echo", "multipart/form-data; boundary=BOUND", form->text,
                       form->len);
}

START_TEST(case_1_backslashes_and_escapes_in_names)
{
    struct form form = {0};
    add_part(&form, "Content-Disposition: form-data; name=\"dir\\\"; filename=\"a.bin\"\r\n", "X", 1);
    add_part(&form, "Content-Disposition: form-data; name=\"f\"; filename=\"q%22z%0D%0A.txt\"\r\n", "Y", 1);
    add_part(&form, "Content-Disposition: form-data; name=\"g\"; filename=\"u\\\"v.jpg\"\r\n", "Z", 1);
    add_end(&form);
    json_t *event = event_of(post(&form));
    event_expect_file_count(event, 3);
    event_expect_file(event, 0, "dir\\", "a.bin", NULL, "X", 1);
    event_expect_file(event, 1, "f", "q%22z%0D%0A.txt", NULL, "Y", 1);
    event_expect_file(event, 2, "g", "u\"v.jpg", NULL, "Z", 1);
}
END_TEST

START_TEST(case_2_utf8_extended_and_unquoted_names)
{
    struct form form = {0};
    add_part(&form,
             "Content-Disposition: form-data; name=\"f\"; "
             "filename=\"na\xc3\xafve-\xe6\x97\xa5\xe6\x9c\xac.txt\"\r\n",
             "1", 1);
    add_part(&form,
             "Content-Type: image/jpeg\r\n"
             "Content-Disposition: form-data; name=image; filename=shot.jpg; filename*=utf-8''shot.jpg\r\n",
             "22", 2);
    add_end(&form);
    json_t *event = event_of(post(&form));
    event_expect_file_count(event, 2);
    event_expect_file(event, 0, "f", "na\xc3\xafve-\xe6\x97\xa5\xe6\x9c\xac.txt", NULL, "1", 1);
    event_expect_file(event, 1, "image", "shot.jpg", "image/jpeg", "22", 2);
    event_expect_fields(event, "form", (const char *const[]){NULL});
}
END_TEST

static const char *const contents[] = {
    "",       "\r\n",         "\r\n\r\n",        "\r\n\r\n\r\n",
    "\r",     "\n",           "\r\n--BOUN",      "\r\n\r\n--BOUNX\r\n",
    "--BOUN", "\r\r\n--BOUN", "\r\n-",           "\r\n--",
    "--",     "--BOUN--",     "\r\n--bound\r\n", "a\r\n--BOUN\r\n--BOUN",
};

static void build_hard_form(struct form *form)
{
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        add_part(form,
                 text_print("Content-Disposition: form-data; name=\"f%zu\"; filename=\"%zu.bin\"\r\n"
                            "Content-Type: application/x-test\r\n",
                            i, i),
                 contents[i], strlen(contents[i]));
    add_part(form, "Content-Disposition: form-data; name=\"t\"\r\n", "\r\ntext\r\n", 8);
    add_end(form);
}

static void expect_hard_form(json_t *event)
{
    event_expect_file_count(event, sizeof contents / sizeof *contents);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        event_expect_file(event, i, text_print("f%zu", i), text_print("%zu.bin", i), "application/x-test",
                          contents[i], strlen(contents[i]));
    event_expect_fields(event, "form", (const char *const[]){"t", "\r\ntext\r\n", NULL});
    json_decref(event);
}

static char *request_head(size_t len)
{
    return text_print(
        "POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=\"BOUND\"\r\n"
        "Content-Length: %zu\r\n\r\n",
        len);
}

START_TEST(case_4_contents_like_line_ends_and_boundaries)
{
    struct form form = {0};
    build_hard_form(&form);
    expect_hard_form(event_of(post(&form)));
}
END_TEST

START_TEST(case_4_at_every_split)
{
    struct form form = {0};
    build_hard_form(&form);
    char *head = request_head(form.len);
    struct wire *wire = wire_open(server->port);
    for (size_t at = 1; at < form.len; at++) {
        wire_send(wire, head, strlen(head));
        wire_send_split(wire, form.text, form.len, at);
        expect_hard_form(event_of(wire_answer(wire, "POST")));
    }
    wire_close(wire);
}
END_TEST

START_TEST(case_4_boundaries_at_every_offset_of_a_page)
{
    char *data = bytes_make(65536 + 64, 4);
    struct wire *wire = wire_open(server->port);
    for (size_t extra = 0; extra < 64; extra++) {
        struct form form = {0};
        add_part(&form, "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n", data,
                 65536 - 32 + extra);
        add_end(&form);
        char *head = request_head(form.len);
        wire_send(wire, head, strlen(head));
        wire_send(wire, form.text, form.len);
        json_t *event = event_of(wire_answer(wire, "POST"));
        event_expect_file_count(event, 1);
        event_expect_file(event, 0, "f", "f", NULL, data, 65536 - 32 + extra);
        json_decref(event);
    }
    wire_close(wire);
}
END_TEST

static void fill_with(struct form *form, const char *unit, size_t count)
{
    size_t len = strlen(unit);
    char *data = malloc(len * count + 1);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * len, unit, len);
    add(form, data, len * count);
    free(data);
}

#define FILE_HEAD "--BOUND\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n"

/* The time it takes is no assertion here: the test would not end in its time if it were quadratic. */
START_TEST(case_6_bodies_that_look_like_ends)
{
    static const struct {
        const char *first, *unit;
        size_t count;
    } hard[] = {
        {"\r", "a", 16 << 20}, {"", "\r\n", 4 << 20}, {"", "--BOUN", 1 << 20}, {"", "\r\n--BOUN", 1 << 20}};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        struct form form = {0};
        add_text(&form, FILE_HEAD);
        size_t start = form.len;
        add_text(&form, hard[i].first);
        fill_with(&form, hard[i].unit, hard[i].count);
        size_t len = form.len - start;
        add_text(&form, "\r\n");
        add_end(&form);
        struct request requests[] = {
            {.path = "/api/echo",
             .fields = (const char *const[]){"Content-Type: multipart/form-data; boundary=BOUND", NULL},
             .body = form.text,
             .len = form.len},
            {.path = "/healthz"},
        };
        struct answer *answers[2];
        client_send_all(server, requests, answers, 2);
        event_expect_file(event_of(answers[0]), 0, "f", "f", NULL, form.text + start, len);
        answer_expect(answers[1], 200);
        free(form.text);
    }
}
END_TEST

START_TEST(case_6_a_long_epilogue)
{
    struct form form = {0};
    add_part(&form, "Content-Disposition: form-data; name=\"a\"\r\n", "1", 1);
    add_text(&form, "--BOUND--");
    fill_with(&form, "-", 1 << 20);
    struct answer *answer = post(&form);
    if (answer->status != 400)
        event_expect_fields(event_of(answer), "form", (const char *const[]){"a", "1", NULL});
    form.len = 0;
    add_text(&form, "a preamble\r\n");
    add_part(&form, "Content-Disposition: form-data; name=\"a\"\r\n", "1", 1);
    add_end(&form);
    fill_with(&form, "an epilogue\r\n", 10000);
    event_expect_fields(event_of(post(&form)), "form", (const char *const[]){"a", "1", NULL});
}
END_TEST

static void expect_refused(const struct form *form)
{
    struct answer *answer = post(form);
    ck_assert_msg(answer->status == 400 || answer->status == 413, "%s", answer->head);
}

START_TEST(case_7_limits)
{
    struct form parts = {0}, heads = {0}, large = {0}, pairs = {0};
    for (int i = 0; i < 20000; i++)
        add_part(&parts, "Content-Disposition: form-data; name=\"a\"\r\n", "1", 1);
    add_end(&parts);
    expect_refused(&parts);
    add_text(&heads, "--BOUND\r\nContent-Disposition: form-data; name=\"a\"\r\n");
    for (int i = 0; i < 10000; i++)
        add_text(&heads, "X-n: y\r\n");
    add_text(&heads, "\r\n1\r\n");
    add_end(&heads);
    expect_refused(&heads);
    add_text(&large, "--BOUND\r\nContent-Disposition: form-data; name=\"a\"\r\nX-large: ");
    fill_with(&large, "x", 2 << 20);
    add_text(&large, "\r\n\r\n1\r\n");
    add_end(&large);
    expect_refused(&large);
    for (int i = 0; i < 20000; i++)
        add_text(&pairs, text_print("%sk%d=value%d", i ? "&" : "", i, i));
    json_t *event = event_of(
        client_post(server, HTTP1, "/api/echo", "application/x-www-form-urlencoded", pairs.text, pairs.len));
    ck_assert_uint_eq(json_array_size(json_object_get(event, "form")), 20000);
    event_expect_field(event, "form", "k19999", "value19999");
}
END_TEST

START_TEST(case_8_hostile_filenames)
{
    char *large = calloc(1, 4097);
    memset(large, 'a', 4096);
    const char *const names[] = {"../../etc/cron.d/x",
                                 "..\\..\\x.dll",
                                 "/abs/p.txt",
                                 "C:\\dir\\y.png",
                                 ".",
                                 "..",
                                 large,
                                 "a/b/c.txt",
                                 ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct form form = {0};
        add_part(&form,
                 text_print("Content-Disposition: form-data; name=\"f\"; filename=\"%s\"\r\n", names[i]), "X",
                 1);
        add_end(&form);
        struct answer *answer = post(&form);
        if (names[i] == large && (answer->status == 400 || answer->status == 413))
            continue;
        event_expect_file_count(event_of(answer), 1);
        event_expect_file(event_of(answer), 0, "f", names[i], NULL, "X", 1);
    }
}
END_TEST

START_TEST(case_8_parts_without_a_name)
{
    static const char *const heads[] = {"Content-Disposition: form-data; name=\"\"\r\n",
                                        "Content-Disposition: form-data\r\n",
                                        "",
                                        "Content-Type: text/plain\r\n",
                                        "Content-Disposition: attachment; name=\"a\"\r\n",
                                        "Content-Disposition: form-data; name\r\n",
                                        "Content-Disposition:\r\n",
                                        "Content-Disposition: form-data; filename=\"x\"\r\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct form form = {0};
        add_part(&form, heads[i], "X", 1);
        add_part(&form, "Content-Disposition: form-data; name=\"b\"\r\n", "2", 1);
        add_end(&form);
        struct answer *answer = post(&form);
        if (answer->status != 400)
            event_expect_field(event_of(answer), "form", "b", "2");
    }
}
END_TEST

START_TEST(odd_or_missing_boundaries_are_400)
{
    static const char *const types[] = {
        "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; bound=BOUND",
        ("multipart/form-data; boundary=12345678901234567890123456789012345678901234567890"
         "123456789012345678901")};
    struct form form = {0};
    add_part(&form, "Content-Disposition: form-data; name=\"a\"\r\n", "1", 1);
    add_end(&form);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        answer_expect(client_post(server, HTTP1, "/api/echo", types[i], form.text, form.len), 400);
}
END_TEST

START_TEST(bodies_without_an_end_are_400)
{
    static const char *const bodies[] = {
        "--BOUND",
        "--BOUND\r\n",
        "--BOUND\r\nContent-Disposition: form-data; name=\"a\"",
        "--BOUND\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1",
        "--BOUND\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--BOUND",
        "--OTHER\r\n\r\n--OTHER--\r\n",
        "nothing of the kind"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        answer_expect(post(&(struct form){.text = (char *)bodies[i], .len = strlen(bodies[i])}), 400);
}
END_TEST

START_TEST(files_and_fields_keep_their_order)
{
    struct form form = {0};
    add_part(&form, "Content-Disposition: form-data; name=\"a\"\r\n", "1", 1);
    add_part(&form,
             "Content-Disposition: form-data; name=\"f\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n",
             "\x89PNG\r\n\x1a\n\0\0", 10);
    add_part(&form, "content-disposition: FORM-DATA; NAME=\"b\"\r\n", "2\0\xff", 3);
    add_end(&form);
    struct answer *answer =
        client_post(server, HTTP1, "/api/upload", "multipart/form-data; boundary=BOUND", form.text, form.len);
    answer_expect_text(answer, 200, "file f x.png image/png 10 89504e470d0a1a0a\nfield a=1\nfield b=2\n");
    event_expect_fields(event_of(post(&form)), "form",
                        (const char *const[]){"a", "1", "b", "hex:3200ff", NULL});
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("multipart");
    TCase *multipart = harness_case(suite, "multipart", setup, teardown);
    tcase_add_test(multipart, case_1_backslashes_and_escapes_in_names);
    tcase_add_test(multipart, case_2_utf8_extended_and_unquoted_names);
    tcase_add_test(multipart, case_4_contents_like_line_ends_and_boundaries);
    tcase_add_test(multipart, case_4_at_every_split);
    tcase_add_test(multipart, case_4_boundaries_at_every_offset_of_a_page);
    tcase_add_test(multipart, case_6_bodies_that_look_like_ends);
    tcase_add_test(multipart, case_6_a_long_epilogue);
    tcase_add_test(multipart, case_7_limits);
    tcase_add_test(multipart, case_8_hostile_filenames);
    tcase_add_test(multipart, case_8_parts_without_a_name);
    tcase_add_test(multipart, odd_or_missing_boundaries_are_400);
    tcase_add_test(multipart, bodies_without_an_end_are_400);
    tcase_add_test(multipart, files_and_fields_keep_their_order);
    return harness_run(suite);
}
