/* Files of public/. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET "this must never leave the folder\n"

static struct server *server;

static const struct {
    const char *name, *type;
} types[] = {
    {"a.mjs", "text/javascript; charset=utf-8"},
    {"a.js", "text/javascript; charset=utf-8"},
    {"a.cjs", "text/javascript; charset=utf-8"},
    {"a.b.JS", "text/javascript; charset=utf-8"},
    {"a.wasm", "application/wasm"},
    {"a.webmanifest", "application/manifest+json"},
    {"a.json", "application/json"},
    {"a.map", "application/json"},
    {"a.svg", "image/svg+xml"},
    {"a.avif", "image/avif"},
    {"a.woff2", "font/woff2"},
    {"a.html", "text/html; charset=utf-8"},
    {"A.HTML", "text/html; charset=utf-8"},
    {"a.css", "text/css; charset=utf-8"},
    {"a.txt", "text/plain; charset=utf-8"},
    {"a.md", "text/markdown; charset=utf-8"},
    {"a.png", "image/png"},
    {"noextension", "application/octet-stream"},
    {"a.unknown", "application/octet-stream"},
};

static const size_t sizes[] = {0, 1, 1447, 4095, 4096, 16384, 65535, 65536, 65537, 300000, 5 << 20};

static void fill(struct folder *folder)
{
    folder_print(folder, "secret.txt", SECRET);
    folder_print(folder, "public/index.html", "<p>home</p>\n");
    folder_print(folder, "public/404.html", "<p>not here</p>\n");
    folder_print(folder, "public/c++.txt", "plus\n");
    folder_print(folder, "public/docs/index.html", "<p>docs</p>\n");
    folder_print(folder, "public/d x/index.html", "<p>d x</p>\n");
    folder_print(folder, "public/css/site.css", "p{}\n");
    folder_print(folder, "public/.env", SECRET);
    folder_print(folder, "public/.git/config", SECRET);
    folder_print(folder, "public/a/.secret/k", SECRET);
    folder_print(folder, "public/..data/k", SECRET);
    folder_print(folder, "public/.well-known/acme-challenge/tok", "token");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        folder_print(folder, text_print("public/types/%s", types[i].name), "%s\n", types[i].name);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        folder_write(folder, text_print("public/bytes/%zu.bin", sizes[i]), bytes_make(sizes[i], (unsigned)i),
                     sizes[i]);
    ck_assert_int_eq(symlink("../secret.txt", folder_path(folder, "public/link.txt")), 0);
    ck_assert_int_eq(symlink("..", folder_path(folder, "public/up")), 0);
    folder_add_function(folder, "tests/e2e/functions/echo.c", "echo");
}

static void setup(void)
{
    struct folder *folder = folder_create();
    fill(folder);
    server = server_start(folder, (const char *const[]){NULL});
}

static void setup_tls(void)
{
    struct folder *folder = folder_create();
    fill(folder);
    folder_add_certificate(folder);
    server = server_start(
        folder, (const char *const[]){"SSL=1", "SSL_PORT=0", text_print("SSL_CERT=%s/cert.pem", folder->path),
                                      text_print("SSL_KEY=%s/key.pem", folder->path), NULL});
}

static void teardown(void)
{
    server_stop(server);
}

static struct answer *get(const char *path)
{
    return client_get(server, HTTP1, path);
}

static struct answer *get_with(const char *path, const char *field)
{
    const char *const fields[] = {field, NULL};
    return client_send(server, &(struct request){.path = path, .fields = fields});
}

static struct answer *ask(const char *method, const char *path)
{
    return client_send(server, &(struct request){.method = method, .path = path});
}

static void expect_every_size(enum transport transport)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct answer *answer = client_get(server, transport, text_print("/bytes/%zu.bin", sizes[i]));
        answer_expect_bytes(answer, 200, bytes_make(sizes[i], (unsigned)i), sizes[i]);
        answer_expect_field(answer, "content-length", text_print("%zu", sizes[i]));
    }
}

START_TEST(files_are_served_byte_for_byte)
{
    expect_every_size(HTTP1);
}
END_TEST

START_TEST(files_are_served_byte_for_byte_over_tls)
{
    expect_every_size(TLS1);
    expect_every_size(HTTP2);
}
END_TEST

START_TEST(the_index_and_the_404_page)
{
    answer_expect_text(get("/"), 200, "<p>home</p>\n");
    answer_expect_text(get("/?x=1"), 200, "<p>home</p>\n");
    answer_expect_text(get("/docs/"), 200, "<p>docs</p>\n");
    struct answer *missing = get("/missing");
    answer_expect_text(missing, 404, "<p>not here</p>\n");
    answer_expect_field(missing, "content-type", "text/html; charset=utf-8");
    answer_expect(get("/css/"), 404);
    answer_expect(get("/CSS/site.css"), 404);
}
END_TEST

START_TEST(head_tells_what_get_would_send)
{
    struct answer *get_answer = get("/bytes/300000.bin"), *head = ask("HEAD", "/bytes/300000.bin");
    answer_expect_text(head, 200, "");
    answer_expect_field(head, "content-length", "300000");
    answer_expect_field(head, "etag", answer_field(get_answer, "etag"));
    answer_expect_field(head, "last-modified", answer_field(get_answer, "last-modified"));
}
END_TEST

START_TEST(other_methods_on_files)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "PATCH", "TRACE", "FOO", "get"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct answer *answer = ask(methods[i], "/css/site.css");
        ck_assert_msg(answer->status == 405 || answer->status == 501, "%s: %s", methods[i], answer->head);
        if (answer->status == 405)
            ck_assert_ptr_nonnull(strstr(answer_field(answer, "allow"), "GET, HEAD"));
    }
    struct answer *options = ask("OPTIONS", "/css/site.css");
    ck_assert(options->status == 200 || options->status == 204);
    ck_assert_ptr_nonnull(strstr(answer_field(options, "allow"), "GET"));
}
END_TEST

START_TEST(etags_are_strong_and_of_the_content)
{
    struct answer *one = get("/css/site.css"), *other = get("/c++.txt");
    const char *etag = answer_field(one, "etag");
    ck_assert_ptr_nonnull(etag);
    ck_assert_int_eq(etag[0], '"');
    ck_assert_str_eq(etag, answer_field(get("/css/site.css"), "etag"));
    ck_assert_str_ne(etag, answer_field(other, "etag"));
    answer_expect_field(one, "x-content-type-options", "nosniff");
}
END_TEST

START_TEST(case_10_plus_is_itself_in_paths)
{
    answer_expect_text(get("/c++.txt"), 200, "plus\n");
    answer_expect_text(get("/c%2B%2B.txt"), 200, "plus\n");
    answer_expect_text(get("/c%2b%2b.txt?a+b"), 200, "plus\n");
}
END_TEST

static void expect_kept_secret(const char *path)
{
    struct answer *answer = get(path);
    ck_assert_msg(answer->status == 404 || answer->status == 400, "%s: %s", path, answer->head);
    ck_assert_msg(strstr(answer->body, SECRET) == NULL && strstr(answer->body, "root:") == NULL, "%s: %s",
                  path, answer->body);
}

START_TEST(case_23_nothing_outside_of_public)
{
    static const char *const paths[] = {
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/static/../../x",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/a/.%2e/../secret.txt",
        "/docs/../../secret.txt",
        "/..%2fsecret.txt",
        "/docs/..%2f..%2fsecret.txt",
        "/..%5csecret.txt",
        "/..\\secret.txt",
        "/%252e%252e/secret.txt",
        "/.../secret.txt",
        "/..;/secret.txt",
        "/link.txt",
        "/up/secret.txt",
        "/up/apiconfig.yaml",
        "/%c0%ae%c0%ae/secret.txt",
        "/bytes/../../secret.txt",
        "//../secret.txt",
        "/./../secret.txt",
        "/functions/echo.so",
        "/../functions/echo.so",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        expect_kept_secret(paths[i]);
    answer_expect_text(get("/docs/../css/site.css"), 200, "p{}\n");
    answer_expect_text(get("/docs/%2e%2e/css/./site.css"), 200, "p{}\n");
}
END_TEST

START_TEST(case_25_nul_in_the_path)
{
    static const char *const paths[] = {"/css/site.css%00.png", "/api/echo%00admin", "/%00",
                                        "/a%00/../css/site.css"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        answer_expect(get(paths[i]), 400);
}
END_TEST

START_TEST(malformed_escapes_in_paths)
{
    static const char *const paths[] = {"/%", "/%4", "/%zz", "/css/site.css%", "/%%41", "/%-1"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        answer_expect(get(paths[i]), 400);
}
END_TEST

START_TEST(case_26_redirects_stay_on_the_site)
{
    static const char *const paths[] = {"//docs",
                                        "///docs",
                                        "//example.org/..%2fdocs",
                                        "/%5Cexample.org",
                                        "/\\example.org",
                                        "/docs%2f..%2f..%2f/example.org",
                                        "//example.org",
                                        "//example.org/../docs",
                                        "/.//docs",
                                        "/%2fdocs",
                                        "//docs//../docs"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct answer *answer = get(paths[i]);
        const char *location = answer_field(answer, "location");
        if (location == NULL)
            continue;
        ck_assert_msg(location[0] == '/' && location[1] != '/' && location[1] != '\\', "%s leads to %s",
                      paths[i], location);
    }
    answer_expect_field(get("//docs"), "location", "/docs/");
    answer_expect_text(get("//docs//index.html"), 200, "<p>docs</p>\n");
}
END_TEST

static void expect_redirect(const struct answer *answer, const char *location)
{
    ck_assert_msg(answer->status == 301 || answer->status == 308, "%s", answer->head);
    answer_expect_field(answer, "location", location);
}

START_TEST(case_27_folders_redirect_to_their_slash)
{
    expect_redirect(get("/docs?x=1&y=%20"), "/docs/?x=1&y=%20");
    expect_redirect(get("/docs"), "/docs/");
    expect_redirect(get("/d%20x?q"), "/d%20x/?q");
    expect_redirect(ask("HEAD", "/docs?x"), "/docs/?x");
    answer_expect_text(get("/d%20x/"), 200, "<p>d x</p>\n");
    answer_expect(get("/docs/index.html/"), 404);
    answer_expect(get("/css/site.css/"), 404);
    ck_assert_int_ne(ask("POST", "/docs")->status, 200);
}
END_TEST

START_TEST(case_28_dotfiles_are_hidden)
{
    static const char *const paths[] = {"/.env",     "/%2eenv",       "/.git/config", "/%2egit/config",
                                        "/.git",     "/.git/",        "/a/.secret/k", "/a/%2Esecret/k",
                                        "/..data/k", "/docs/../.env", "/a/.secret",   "/a/.secret/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        answer_expect(get(paths[i]), 404);
        expect_kept_secret(paths[i]);
    }
    struct answer *token = get("/.well-known/acme-challenge/tok");
    answer_expect_text(token, 200, "token");
}
END_TEST

START_TEST(case_36_conditional_requests)
{
    struct answer *plain = get("/css/site.css");
    const char *etag = answer_field(plain, "etag"), *modified = answer_field(plain, "last-modified");
    const char *const unchanged[] = {
        text_print("If-None-Match: \"zzz\", W/%s, \"y,y\"", etag),
        text_print("If-None-Match: \"y,y\",%s", etag),
        text_print("If-None-Match: %s", etag),
        "If-None-Match: *",
        text_print("If-Modified-Since: %s", modified),
        "If-Modified-Since: Fri, 31 Dec 2099 23:59:59 GMT",
    };
    for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++) {
        struct answer *answer = get_with("/css/site.css", unchanged[i]);
        ck_assert_msg(answer->status == 304, "%s: %s", unchanged[i], answer->head);
        answer_expect_text(answer, 304, "");
        answer_expect_field(answer, "etag", etag);
    }
    const char *const changed[] = {
        "If-None-Match: \"zzz\"",
        "If-None-Match: zzz",
        "If-Modified-Since: yesterday",
        "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
        text_print("If-None-Match: \"y,%s", etag + 1),
    };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        answer_expect_text(get_with("/css/site.css", changed[i]), 200, "p{}\n");
    const char *const both[] = {"If-None-Match: \"zzz\"", "If-Modified-Since: Fri, 31 Dec 2099 23:59:59 GMT",
                                NULL};
    answer_expect(client_send(server, &(struct request){.path = "/css/site.css", .fields = both}), 200);
}
END_TEST

START_TEST(case_36_a_connection_goes_on_after_304)
{
    struct wire *wire = wire_open(server->port);
    for (int i = 0; i < 3; i++) {
        wire_print(wire, "GET /css/site.css HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n"
                         "GET /css/site.css HTTP/1.1\r\nHost: x\r\n\r\n");
        answer_expect(wire_answer(wire, "GET"), 304);
        answer_expect_text(wire_answer(wire, "GET"), 200, "p{}\n");
    }
    wire_close(wire);
}
END_TEST

START_TEST(case_40_content_types)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct answer *answer = get(text_print("/types/%s", types[i].name));
        answer_expect_text(answer, 200, text_print("%s\n", types[i].name));
        answer_expect_field(answer, "content-type", types[i].type);
    }
}
END_TEST

START_TEST(no_public_folder_at_all)
{
    struct folder *folder = folder_create();
    ck_assert_int_eq(rmdir(folder_path(folder, "public")), 0);
    ck_assert_int_eq(rmdir(folder_path(folder, "functions")), 0);
    struct server *bare = server_start(folder, (const char *const[]){NULL});
    answer_expect(client_get(bare, HTTP1, "/"), 404);
    answer_expect(client_get(bare, HTTP1, "/healthz"), 200);
    server_stop(bare);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("static");
    TCase *files = harness_case(suite, "files", setup, teardown);
    tcase_add_test(files, files_are_served_byte_for_byte);
    tcase_add_test(files, the_index_and_the_404_page);
    tcase_add_test(files, head_tells_what_get_would_send);
    tcase_add_test(files, other_methods_on_files);
    tcase_add_test(files, etags_are_strong_and_of_the_content);
    tcase_add_test(files, case_10_plus_is_itself_in_paths);
    tcase_add_test(files, case_23_nothing_outside_of_public);
    tcase_add_test(files, case_25_nul_in_the_path);
    tcase_add_test(files, malformed_escapes_in_paths);
    tcase_add_test(files, case_26_redirects_stay_on_the_site);
    tcase_add_test(files, case_27_folders_redirect_to_their_slash);
    tcase_add_test(files, case_28_dotfiles_are_hidden);
    tcase_add_test(files, case_36_conditional_requests);
    tcase_add_test(files, case_36_a_connection_goes_on_after_304);
    tcase_add_test(files, case_40_content_types);
    TCase *tls = harness_case(suite, "tls", setup_tls, teardown);
    tcase_add_test(tls, files_are_served_byte_for_byte_over_tls);
    TCase *bare = harness_case(suite, "bare", NULL, NULL);
    tcase_add_test(bare, no_public_folder_at_all);
    return harness_run(suite);
}
