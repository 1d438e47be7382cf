/* TLS and HTTP/2: handshakes, certificates, redirects, many streams. */
#include "event.h"
#include "harness.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#define LARGE (8 << 20)

static struct server *server;
static char *large;

static void fill(struct folder *folder)
{
    large = bytes_make(LARGE, 70);
    folder_print(folder, "public/b.txt", "bbb");
    folder_write(folder, "public/large.bin", large, LARGE);
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
    folder_add_function(folder, "tests/e2e/functions/calls.c", "calls");
}

static void setup(void)
{
    struct folder *folder = folder_create();
    fill(folder);
    folder_add_certificate(folder);
    server =
        server_start(folder, (const char *const[]){"SSL=1", "SSL_PORT=0", "PORT=0", "BODY_LIMIT=10485760",
                                                   text_print("SSL_CERT=%s/cert.pem", folder->path),
                                                   text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
}

static void setup_self_signed(void)
{
    struct folder *folder = folder_create();
    fill(folder);
    server = server_start(folder, (const char *const[]){"SSL=1", "SSL_PORT=0", NULL});
}

static void teardown(void)
{
    server_stop(server);
    free(large);
}

static struct wire *open_with(int version, const char *alpn)
{
    return wire_open_tls(server->tls_port,
                         &(struct tls_options){.min = version, .max = version, .alpn = alpn});
}

static struct wire *open_http1(void)
{
    struct wire *wire = open_with(0, NULL);
    ck_assert_ptr_nonnull(wire);
    return wire;
}

START_TEST(versions)
{
    struct wire *new = open_with(TLS1_3_VERSION, NULL), *old = open_with(TLS1_2_VERSION, NULL);
    ck_assert(new != NULL &&old != NULL);
    ck_assert_str_eq(wire_tls_version(new), "TLSv1.3");
    ck_assert_str_eq(wire_tls_version(old), "TLSv1.2");
    wire_print(old, "GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\n");
    answer_expect_text(wire_answer(old, "GET"), 200, "bbb");
    ck_assert_ptr_null(open_with(TLS1_1_VERSION, NULL));
    ck_assert_ptr_null(open_with(TLS1_VERSION, NULL));
}
END_TEST

START_TEST(application_protocols)
{
    static const char *const table[][2] = {{"\x02h2", "h2"},
                                           {"\x02h2\x08http/1.1", "h2"},
                                           {"\x08http/1.1\x02h2", "h2"},
                                           {"\x08http/1.1", "http/1.1"},
                                           {"\x03xyz", ""}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct wire *wire = open_with(0, table[i][0]);
        ck_assert_msg(wire != NULL, "no handshake for %s", table[i][0]);
        char *chosen = wire_alpn(wire);
        /* Either order of preference is right; a protocol that nobody knows leaves HTTP/1.1 unnamed or named.
         */
        if (i == 2)
            ck_assert(strcmp(chosen, "h2") == 0 || strcmp(chosen, "http/1.1") == 0);
        else if (i < 4)
            ck_assert_str_eq(chosen, table[i][1]);
        if (strcmp(chosen, "h2") != 0) {
            wire_print(wire, "GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\n");
            answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
        }
        wire_close(wire);
    }
}
END_TEST

START_TEST(the_given_certificate_is_used)
{
    struct wire *wire = open_http1();
    ck_assert_ptr_nonnull(strstr(wire_subject(wire), "cloudgate test"));
    /* The client checks it against the folder's. */
    answer_expect_text(client_get(server, HTTP2, "/b.txt"), 200, "bbb");
    answer_expect_text(client_get(server, TLS1, "/b.txt"), 200, "bbb");
    wire_close(wire);
}
END_TEST

START_TEST(without_a_certificate_one_is_made_and_said)
{
    answer_expect_text(client_get(server, TLS1, "/b.txt"), 200, "bbb");
    answer_expect_text(client_get(server, HTTP2, "/b.txt"), 200, "bbb");
    char *said = text_print("%s%s", server_output(server), server_errors(server));
    ck_assert_msg(strcasestr(said, "self-signed") != NULL, "%s", said);
}
END_TEST

START_TEST(certificates_that_cannot_be_used)
{
    struct folder *folder = folder_create(), *other = folder_create();
    folder_add_certificate(folder);
    folder_add_certificate(other);
    folder_print(folder, "empty.pem", "%s", "");
    const char *const pairs[][2] = {{folder_path(folder, "cert.pem"), folder_path(other, "key.pem")},
                                    {folder_path(folder, "empty.pem"), folder_path(folder, "key.pem")},
                                    {folder_path(folder, "missing.pem"), folder_path(folder, "key.pem")}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *output;
        const char *const environment[] = {"SSL=1", "SSL_PORT=0", text_print("SSL_CERT=%s", pairs[i][0]),
                                           text_print("SSL_KEY=%s", pairs[i][1]), NULL};
        int status = server_run(folder, environment, (const char *const[]){folder->path, NULL}, &output);
        ck_assert_int_ne(status, 0);
        ck_assert_msg(strstr(output, ".pem") != NULL, "the file is not named: %s", output);
        ck_assert_ptr_null(strstr(output, "Listening"));
    }
}
END_TEST

START_TEST(case_70_plain_http_on_the_tls_port)
{
    for (int i = 0; i < 50; i++) {
        struct wire *wire = wire_open(server->tls_port);
        wire_print(wire, "GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\n");
        struct answer *answer = wire_answer(wire, "GET");
        answer_expect(answer, 400);
        ck_assert_msg(strcasestr(answer->body, "https") != NULL, "%s", answer->body);
        wire_expect_end(wire);
        wire_close(wire);
    }
    answer_expect_text(client_get(server, TLS1, "/b.txt"), 200, "bbb");
}
END_TEST

START_TEST(case_70_random_bytes_on_the_tls_port)
{
    for (unsigned i = 0; i < 50; i++) {
        struct wire *wire = wire_open(server->tls_port);
        char *bytes = bytes_make(300, i);
        wire_send(wire, bytes, 300);
        wire_half_close(wire);
        struct answer *answer = NULL;
        /* An alert may come back, which is no HTTP: only that the connection ends matters. */
        if (bytes[0] >= 'A' && bytes[0] <= 'Z')
            answer = wire_answer_or_end(wire, "GET");
        ck_assert(answer == NULL || answer->status == 400);
        wire_reset(wire);
    }
    answer_expect_text(client_get(server, TLS1, "/b.txt"), 200, "bbb");
}
END_TEST

START_TEST(case_74_handshakes_that_never_end)
{
    struct wire *silent[40];
    for (size_t i = 0; i < 40; i++) {
        silent[i] = wire_open(server->tls_port);
        if (i % 2)
            wire_send(silent[i], "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    }
    answer_expect_text(client_get(server, TLS1, "/b.txt"), 200, "bbb");
    answer_expect_text(client_get(server, HTTP2, "/b.txt"), 200, "bbb");
    for (size_t i = 0; i < 40; i++)
        wire_close(silent[i]);
}
END_TEST

START_TEST(the_plain_port_redirects)
{
    static const char *const targets[] = {"/b.txt", "/", "/a%20b/c?x=1&y=%20", "/api/echo?q", "//evil.test/"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct answer *answer = client_get(server, HTTP1, targets[i]);
        ck_assert_msg(answer->status == 301 || answer->status == 308, "%s", answer->head);
        const char *site = text_print("https://127.0.0.1:%d/", server->tls_port),
                   *location = answer_field(answer, "location");
        ck_assert_msg(strncmp(location, site, strlen(site)) == 0, "%s leads to %s", targets[i], location);
        if (i < 4)
            ck_assert_str_eq(location + strlen(site) - 1, targets[i]);
    }
    struct wire *wire = wire_open(server->port);
    wire_print(wire, "GET /b.txt?x HTTP/1.1\r\nHost: site.test:%d\r\n\r\n", server->port);
    answer_expect_field(wire_answer(wire, "GET"), "location",
                        text_print("https://site.test:%d/b.txt?x", server->tls_port));
    wire_print(wire, "GET /b.txt HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
    answer_expect_field(wire_answer(wire, "GET"), "location",
                        text_print("https://[::1]:%d/b.txt", server->tls_port));
    wire_close(wire);
}
END_TEST

START_TEST(redirects_do_not_inject)
{
    static const char *const requests[] = {"GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n",
                                           "GET /a HTTP/1.1\r\nHost: a\"onx=\r\n\r\n",
                                           "GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n",
                                           "GET /a HTTP/1.1\r\nHost: user@evil.test\r\n\r\n"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        answer_expect(wire_once(server->port, requests[i], strlen(requests[i])), 400);
}
END_TEST

START_TEST(case_54_half_close_over_tls)
{
    static const char *const requests[] = {
        "GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct wire *wire = open_http1();
        wire_print(wire, "%s", requests[i]);
        wire_half_close(wire);
        answer_expect(wire_answer(wire, "GET"), 200);
        wire_expect_end(wire);
        ck_assert(wire_ended_cleanly(wire));
        wire_close(wire);
    }
    struct wire *wire = open_http1();
    wire_print(wire, "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
    wire_half_close(wire);
    answer_expect_bytes(wire_answer(wire, "GET"), 200, large, LARGE);
    wire_close(wire);
}
END_TEST

START_TEST(case_54_half_close_within_a_body_over_tls)
{
    long before = strtol(client_get(server, TLS1, "/api/calls")->body, NULL, 10);
    struct wire *wire = open_http1();
    wire_print(wire, "POST /api/calls HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    wire_half_close(wire);
    struct answer *answer = wire_answer_or_end(wire, "POST");
    ck_assert(answer == NULL || answer->status >= 400);
    wire_expect_end(wire);
    wire_close(wire);
    ck_assert_int_eq(strtol(client_get(server, TLS1, "/api/calls")->body, NULL, 10), before);
}
END_TEST

START_TEST(the_end_is_announced)
{
    struct wire *wire = open_http1();
    wire_print(wire, "GET /b.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
    wire_expect_end(wire);
    ck_assert(wire_ended_cleanly(wire));
    wire_close(wire);
}
END_TEST

START_TEST(pipelining_over_tls)
{
    struct wire *wire = open_http1();
    for (int i = 0; i < 200; i++)
        wire_print(wire,
                   "GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\nPOST /api/echo HTTP/1.1\r\nHost: x\r\n"
                   "Content-Length: 4\r\n\r\n%04d",
                   i);
    for (int i = 0; i < 200; i++) {
        answer_expect_text(wire_answer(wire, "GET"), 200, "bbb");
        json_t *event = event_of(wire_answer(wire, "POST"));
        event_expect_body(event, text_print("%04d", i), 4);
        json_decref(event);
    }
    wire_close(wire);
}
END_TEST

START_TEST(large_downloads)
{
    answer_expect_bytes(client_get(server, (enum transport)_i, "/large.bin"), 200, large, LARGE);
}
END_TEST

START_TEST(large_uploads)
{
    event_expect_body(event_of(client_post(server, (enum transport)_i, "/api/echo", NULL, large, LARGE)),
                      large, LARGE);
}
END_TEST

START_TEST(case_44_too_large_over_tls)
{
    size_t len = 12 << 20;
    char *body = bytes_make(len, 44);
    for (int run = 0; run < 5; run++) {
        struct request request = {.transport = (enum transport)_i,
                                  .path = "/api/echo",
                                  .body = body,
                                  .len = len,
                                  .expect = run % 2};
        answer_expect(client_send(server, &request), 413);
    }
}
END_TEST

START_TEST(a_hundred_streams_at_once)
{
    struct request requests[100];
    struct answer *answers[100];
    for (int i = 0; i < 100; i++)
        requests[i] = (struct request){.transport = HTTP2, .path = text_print("/api/echo?i=%d", i)};
    client_send_all(server, requests, answers, 100);
    for (int i = 0; i < 100; i++)
        event_expect_text(event_of(answers[i]), "query", text_print("i=%d", i));
}
END_TEST

START_TEST(streams_with_large_bodies_both_ways)
{
    struct request requests[20];
    struct answer *answers[20];
    size_t len = 700000;
    for (size_t i = 0; i < 20; i++)
        requests[i] =
            i % 2 ? (struct request){.transport = HTTP2, .path = "/large.bin"}
                  : (struct request){.transport = HTTP2, .path = "/api/echo", .body = large + i, .len = len};
    client_send_all(server, requests, answers, 20);
    for (size_t i = 0; i < 20; i++) {
        if (i % 2)
            answer_expect_bytes(answers[i], 200, large, LARGE);
        else
            event_expect_body(event_of(answers[i]), large + i, len);
    }
}
END_TEST

START_TEST(http2_answers_like_http1)
{
    struct request head = {.transport = HTTP2, .method = "HEAD", .path = "/b.txt"};
    struct answer *answer = client_send(server, &head);
    answer_expect_text(answer, 200, "");
    answer_expect_field(answer, "content-length", "3");
    answer_expect(client_get(server, HTTP2, "/none"), 404);
    answer_expect(client_get(server, HTTP2, "/%00"), 400);
    answer_expect(
        client_send(server, &(struct request){.transport = HTTP2, .method = "PUT", .path = "/api/calls"}),
        405);
    answer_expect(
        client_send(server, &(struct request){.transport = HTTP2, .method = "DELETE", .path = "/b.txt"}),
        405);
    ck_assert_uint_eq(answer_count(answer, "date"), 1);
    answer_expect_field(answer, "connection", NULL);
}
END_TEST

START_TEST(clients_that_vanish_harm_nobody)
{
    for (int i = 0; i < 40; i++) {
        struct wire *wire = open_http1();
        wire_print(wire, "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i % 2)
            wire_silent(wire, 5);
        wire_reset(wire);
    }
    answer_expect_text(client_get(server, TLS1, "/b.txt"), 200, "bbb");
}
END_TEST

static void add_handshakes(Suite *suite)
{
    TCase *handshakes = harness_case(suite, "handshakes", setup, teardown);
    tcase_add_test(handshakes, versions);
    tcase_add_test(handshakes, application_protocols);
    tcase_add_test(handshakes, the_given_certificate_is_used);
    tcase_add_test(handshakes, case_70_plain_http_on_the_tls_port);
    tcase_add_test(handshakes, case_70_random_bytes_on_the_tls_port);
    tcase_add_test(handshakes, case_74_handshakes_that_never_end);
    tcase_add_test(handshakes, the_plain_port_redirects);
    tcase_add_test(handshakes, redirects_do_not_inject);
}

static void add_traffic(Suite *suite)
{
    TCase *traffic = harness_case(suite, "traffic", setup, teardown);
    tcase_add_test(traffic, case_54_half_close_over_tls);
    tcase_add_test(traffic, case_54_half_close_within_a_body_over_tls);
    tcase_add_test(traffic, the_end_is_announced);
    tcase_add_test(traffic, pipelining_over_tls);
    tcase_add_loop_test(traffic, large_downloads, TLS1, HTTP2 + 1);
    tcase_add_loop_test(traffic, large_uploads, TLS1, HTTP2 + 1);
    tcase_add_loop_test(traffic, case_44_too_large_over_tls, TLS1, HTTP2 + 1);
    tcase_add_test(traffic, a_hundred_streams_at_once);
    tcase_add_test(traffic, streams_with_large_bodies_both_ways);
    tcase_add_test(traffic, http2_answers_like_http1);
    tcase_add_test(traffic, clients_that_vanish_harm_nobody);
}

int main(void)
{
    Suite *suite = suite_create("tls");
    add_handshakes(suite);
    add_traffic(suite);
    TCase *self_signed = harness_case(suite, "self-signed", setup_self_signed, teardown);
    tcase_add_test(self_signed, without_a_certificate_one_is_made_and_said);
    TCase *bad = harness_case(suite, "bad certificates", NULL, NULL);
    tcase_add_test(bad, certificates_that_cannot_be_used);
    return harness_run(suite);
}
