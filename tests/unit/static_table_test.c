#include "site.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>

START_TEST(case_27_folders)
{
    scratch_text("public/index.html", "home");
    scratch_text("public/docs/index.html", "docs");
    scratch_text("public/d x/index.html", "dx");
    scratch_text("public/empty/a.txt", "a");
    scratch_text("public/about.html", "about");
    scratch_text("public/both.html", "file");
    scratch_text("public/both/index.html", "folder");
    scratch_text("public/plain", "plain");
    scratch_text("public/plain.html", "other");
    scratch_text("public/half/x", "x");
    scratch_text("public/half.html", "half");
    struct static_table *table = load();
    ck_assert_str_eq(get(table, "/"), "home");
    ck_assert_str_eq(get(table, "/index.html"), "home");
    ck_assert_str_eq(get(table, "/docs"), "->");
    ck_assert_str_eq(get(table, "/docs/"), "docs");
    ck_assert_str_eq(get(table, "//docs//"), "docs");
    ck_assert_str_eq(get(table, "/docs/index.html"), "docs");
    ck_assert_str_eq(get(table, "/docs/index.html/"), "404");
    ck_assert_str_eq(get(table, "/d%20x"), "->");
    ck_assert_str_eq(get(table, "/d%20x/"), "dx");
    ck_assert_str_eq(get(table, "/empty"), "404");
    ck_assert_str_eq(get(table, "/empty/"), "404");
    ck_assert_str_eq(get(table, "/empty/a.txt"), "a");
    ck_assert_str_eq(get(table, "/about"), "about");
    ck_assert_str_eq(get(table, "/about/"), "404");
    ck_assert_str_eq(get(table, "/both"), "->"); /* a folder comes before .html */
    ck_assert_str_eq(get(table, "/both/"), "folder");
    ck_assert_str_eq(get(table, "/plain"), "plain"); /* and a file before both */
    ck_assert_str_eq(get(table, "/half"), "half");   /* a folder without a page is none */
    ck_assert_str_eq(get(table, "/ABOUT"), "404");
    ck_assert_str_eq(get(table, ""), "400");
    static_table_destroy(table);
}
END_TEST

START_TEST(case_28_dotfiles)
{
    scratch_text("public/.env", "secret");
    scratch_text("public/.git/config", "secret");
    scratch_text("public/a/.secret/k", "secret");
    scratch_text("public/a/.well-known/k", "secret");
    scratch_text("public/..data/k", "secret");
    scratch_text("public/.well-known/acme-challenge/tok", "token");
    scratch_text("public/.well-known/.hidden", "secret");
    scratch_text("public/.html", "secret");
    struct static_table *table = load();
    static const char *const hidden[] = {
        "/.env",     "/%2eenv",          "/.git/config",         "/a/.secret/k",
        "/..data/k", "/a/.well-known/k", "/.well-known/.hidden", "/.html"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        ck_assert_msg(strcmp(get(table, hidden[i]), "404") == 0, "%s", hidden[i]);
    ck_assert_str_eq(get(table, "/.well-known/acme-challenge/tok"), "token");
    ck_assert_str_eq(find(table, "/.well-known/acme-challenge/tok")->type, "text/plain; charset=utf-8");
    ck_assert_uint_eq(static_table_count(table), 1);
    static_table_destroy(table);
}
END_TEST

START_TEST(case_23_and_25_nothing_outside)
{
    scratch_text("secret.txt", "secret");
    scratch_text("publicly/x.txt", "secret");
    scratch_text("public/in.txt", "in");
    scratch_text("public/sub/deep.txt", "deep");
    link_to("in.txt", "public/alias.txt");
    link_to("sub", "public/way");
    link_to("../secret.txt", "public/out.txt");
    link_to("..", "public/up");
    link_to("../publicly", "public/beside");
    link_to("/etc/passwd", "public/passwd");
    link_to("nowhere", "public/dangling");
    link_to(".", "public/loop");
    char *fifo = scratch_path("public/fifo");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    free(fifo);
    struct static_table *table = load();
    ck_assert_str_eq(get(table, "/alias.txt"), "in");
    ck_assert_str_eq(get(table, "/way/deep.txt"), "deep");
    static const char *const gone[] = {"/out.txt", "/up/secret.txt",   "/beside/x.txt",
                                       "/passwd",  "/dangling",        "/loop/in.txt",
                                       "/fifo",    "/..%2fsecret.txt", "/sub/..%2Fin.txt"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        ck_assert_msg(strcmp(get(table, gone[i]), "404") == 0, "%s", gone[i]);
    ck_assert_str_eq(get(table, "/../secret.txt"), "400");
    ck_assert_str_eq(get(table, "/in.txt%00.png"), "400");
    ck_assert_str_eq(get(table, "/sub/../in.txt"), "in");
    ck_assert_uint_eq(static_table_count(table), 4);
    static_table_destroy(table);
}
END_TEST

/* The URL that names a file's bytes finds it, and no other does. */
START_TEST(odd_names)
{
    static const struct {
        const char *name, *url;
    } files[] = {
        {"100%.txt", "/100%25.txt"},
        {"a b+c.txt", "/a%20b+c.txt"},
        {"a%2Fb", "/a%252Fb"},
        {"a%2fb", "/a%252fb"},
        {"a%25b", "/a%2525b"},
        {"\xff\xfe.bin", "/%ff%FE.bin"},
        {"\xc3\xa4", "/%C3%A4"},
        {"q?x=1", "/q%3Fx=1"},
        {"h#h", "/h%23h"},
        {"back\\slash", "/back%5Cslash"},
        {"new\nline", "/new%0aline"},
        {"%", "/%25"},
        {"%%2F", "/%25%252F"},
        {"...", "/..."},
    };
    const size_t count = sizeof files / sizeof *files;
    for (size_t i = 0; i < count; i++) {
        char *name = xsprintf("public/%s", files[i].name);
        scratch_text(name, files[i].url);
        free(name);
    }
    struct static_table *table = load();
    for (size_t i = 0; i + 1 < count; i++)
        ck_assert_str_eq(get(table, files[i].url), files[i].url);
    ck_assert_str_eq(get(table, "/..."), "404"); /* begins with a dot */
    ck_assert_str_eq(get(table, "/a%2Fb"), "404");
    ck_assert_str_eq(get(table, "/a/b"), "404");
    static_table_destroy(table);
}
END_TEST

START_TEST(fields_and_blocks)
{
    scratch_write("public/a.js", "a\0b", 3);
    scratch_write("public/b.js", "a\0b", 3);
    scratch_write("public/c.js", "a\0c", 3);
    scratch_text("public/empty.css", "");
    scratch_text("public/404.html", "lost");
    char *path = scratch_path("public/a.js");
    const struct timespec times[] = {{784111777, 5}, {784111777, 5}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
    path = scratch_path("public/c.js");
    const struct timespec future[] = {{.tv_sec = INT32_MAX}, {.tv_sec = INT32_MAX}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, future, 0), 0);
    free(path);
    struct static_table *table = load();
    const struct static_file *file = find(table, "/a.js");
    const struct static_form *a = &file->forms[CODING_IDENTITY];
    const struct static_form *b = &find(table, "/b.js")->forms[CODING_IDENTITY];
    const struct static_form *c = &find(table, "/c.js")->forms[CODING_IDENTITY];
    ck_assert_uint_eq(a->data.len, 3);
    ck_assert_int_eq(memcmp(a->data.ptr, "a\0b", 4), 0);
    ck_assert_int_eq(file->modified, 784111777);
    ck_assert_str_eq(file->modified_text, "Sun, 06 Nov 1994 08:49:37 GMT");
    ck_assert_int_le(find(table, "/c.js")->modified, wall_ms() / 1000);
    ck_assert_str_eq(a->etag.ptr, b->etag.ptr);
    ck_assert_str_ne(a->etag.ptr, c->etag.ptr);
    ck_assert(a->etag.len == 24 && a->etag.ptr[0] == '"' && a->etag.ptr[23] == '"');
    char *expected = xsprintf(
        "etag: %s\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\ncache-control: max-age=604800\r\n"
        "content-type: text/javascript; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
        "accept-ranges: bytes\r\ncontent-length: 3\r\n",
        a->etag.ptr);
    ck_assert_str_eq(a->block.ptr, expected);
    ck_assert_uint_eq(a->block.len, strlen(expected));
    free(expected);
    expected = xsprintf(
        "etag: %s\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\ncache-control: max-age=604800\r\n",
        a->etag.ptr);
    ck_assert_str_eq(a->block_304.ptr, expected);
    free(expected);
    ck_assert_uint_eq(a->field_count, 6);
    ck_assert_uint_eq(a->field_count_304, 3);
    ck_assert_str_eq(a->fields[3].name.ptr, "content-type");
    ck_assert_str_eq(a->fields[3].value.ptr, "text/javascript; charset=utf-8");
    ck_assert_uint_eq(find(table, "/empty.css")->forms[CODING_IDENTITY].data.len, 0);
    ck_assert_str_eq(static_table_not_found(table)->forms[CODING_IDENTITY].data.ptr, "lost");
    ck_assert_uint_eq(static_table_count(table), 5);
    ck_assert_uint_eq(static_table_bytes(table), 13);
    ck_assert_str_eq(static_table_warnings(table), "");
    static_table_destroy(table);
}
END_TEST

START_TEST(no_folder_is_an_empty_one)
{
    struct static_table *table = load();
    ck_assert_uint_eq(static_table_count(table), 0);
    ck_assert_str_eq(get(table, "/"), "404");
    ck_assert_ptr_null(static_table_not_found(table));
    static_table_destroy(table);
    static_table_destroy(NULL);
}
END_TEST

START_TEST(what_is_too_much_for_memory_stays_on_disk)
{
    scratch_text("public/a", "aaaa");
    scratch_text("public/b", "bbbb");
    scratch_text("public/c", "cc");
    scratch_text("public/large", "");
    char *large = scratch_path("public/large");
    ck_assert_int_eq(truncate(large, STATIC_FILE_MAX_BYTES + 1), 0);
    options.memory = 6;
    struct static_table *table = load();
    ck_assert_str_eq(get(table, "/a"), "aaaa");
    ck_assert_str_eq(get(table, "/b"), "on disk");
    ck_assert_str_eq(get(table, "/c"), "cc");
    ck_assert_str_eq(get(table, "/large"), "on disk");
    ck_assert_uint_eq(static_table_bytes(table), 6);
    /* One that is small enough again comes back. */
    options.memory = 256 << 20;
    ck_assert_int_eq(truncate(large, STATIC_FILE_MAX_BYTES), 0);
    struct static_table *after = load_after(table);
    ck_assert_str_eq(get(after, "/b"), "bbbb");
    ck_assert_str_eq(get(after, "/large"), "");
    ck_assert_ptr_eq(find(after, "/c"), find(table, "/c"));
    static_table_destroy(table);
    static_table_destroy(after);
    free(large);
}
END_TEST

static void write_page(const char *name, int lines)
{
    struct buffer text = {0};
    for (int i = 0; i < lines; i++)
        buffer_printf(&text, "<p>line %d of a page</p>\n", i);
    scratch_write(name, text.data, text.len);
    buffer_finish(&text);
}

static void run(const char *format, const char *name)
{
    char *path = scratch_path(name), *command = xsprintf(format, path);
    ck_assert_int_eq(system(command), 0);
    free(command);
    free(path);
}

static void expect_form(const struct static_file *file, enum coding coding)
{
    const struct static_form *plain = &file->forms[CODING_IDENTITY], *form = &file->forms[coding];
    ck_assert_uint_gt(form->data.len, 0);
    ck_assert_uint_lt(form->data.len, plain->data.len);
    ck_assert(coding_holds(coding, form->data.ptr, form->data.len, plain->data.ptr, plain->data.len));
    ck_assert_str_ne(form->etag.ptr, plain->etag.ptr);
    ck_assert_ptr_nonnull(strstr(form->block.ptr, "vary: accept-encoding\r\n"));
    ck_assert_ptr_nonnull(strstr(form->block.ptr, coding == CODING_GZIP ? "content-encoding: gzip\r\n"
                                                                        : "content-encoding: br\r\n"));
    ck_assert_ptr_nonnull(strstr(form->block_304.ptr, "vary: accept-encoding\r\n"));
    ck_assert_ptr_nonnull(strstr(plain->block.ptr, "vary: accept-encoding\r\n"));
    ck_assert_ptr_null(strstr(plain->block.ptr, "content-encoding"));
}

START_TEST(case_37_compressed_forms)
{
    write_page("public/page.html", 100);
    write_page("public/tiny.html", 1);
    write_page("public/photo.jpg", 100);
    char *noise = xalloc(4000);
    for (uint32_t i = 0, x = 1; i < 4000; i++, x = x * 1664525 + 1013904223)
        noise[i] = (char)(x >> 24);
    scratch_write("public/noise.txt", noise, 4000);
    free(noise);
    struct static_table *table = load();
    ck_assert(find(table, "/page.html")->varies); /* though nothing is there yet */
    table = improve(table);
    expect_form(find(table, "/page.html"), CODING_GZIP);
    expect_form(find(table, "/page.html"), CODING_BROTLI);
    ck_assert(!find(table, "/tiny.html")->varies);
    ck_assert(!find(table, "/photo.jpg")->varies);
    ck_assert(find(table, "/noise.txt")->varies);
    ck_assert_uint_eq(find(table, "/noise.txt")->forms[CODING_GZIP].block.len, 0);
    /* They stay as long as the content does. */
    write_page("public/new.html", 10);
    struct static_table *after = load_after(table);
    ck_assert_ptr_eq(find(after, "/page.html")->forms[CODING_GZIP].data.ptr,
                     find(table, "/page.html")->forms[CODING_GZIP].data.ptr);
    static_table_destroy(table);
    write_page("public/page.html", 101);
    table = load_after(after);
    ck_assert_uint_eq(find(table, "/page.html")->forms[CODING_GZIP].block.len, 0);
    table = improve(table);
    expect_form(find(table, "/page.html"), CODING_GZIP);
    static_table_destroy(table);
    static_table_destroy(after);
}
END_TEST

START_TEST(forms_that_lie_beside_a_file)
{
    write_page("public/page.html", 100);
    write_page("public/photo.jpg", 100);
    write_page("public/stale.html", 100);
    run("gzip -1 -k %s", "public/page.html");
    run("gzip -1 -k %s", "public/photo.jpg");
    run("gzip -1 -k %s", "public/stale.html");
    write_page("public/stale.html", 101);
    struct static_table *table = improve(load());
    const struct static_file *page = find(table, "/page.html"), *packed = find(table, "/page.html.gz");
    expect_form(page, CODING_GZIP);
    ck_assert_ptr_eq(page->forms[CODING_GZIP].data.ptr, packed->forms[CODING_IDENTITY].data.ptr);
    ck_assert_str_eq(packed->type, "application/gzip");
    expect_form(find(table, "/photo.jpg"), CODING_GZIP);
    expect_form(find(table, "/stale.html"), CODING_GZIP); /* of its own content, not of what lies there */
    /* One that goes away is made again. */
    run("rm %s", "public/page.html.gz");
    struct static_table *after = improve(load_after(table));
    expect_form(find(after, "/page.html"), CODING_GZIP);
    ck_assert_ptr_ne(find(after, "/page.html")->forms[CODING_GZIP].data.ptr,
                     page->forms[CODING_GZIP].data.ptr);
    static_table_destroy(table);
    static_table_destroy(after);
}
END_TEST

START_TEST(forms_give_way_when_memory_gets_short)
{
    write_page("public/page.html", 100);
    struct static_table *table = improve(load());
    uint64_t full = static_table_bytes(table), plain = find(table, "/page.html")->forms[0].data.len;
    ck_assert_uint_gt(full, plain);
    options.memory = plain + 100;
    scratch_write("public/new.txt", "\0\0\0\0", 4);
    struct static_table *after = improve(load_after(table));
    ck_assert_uint_le(static_table_bytes(after), options.memory);
    ck_assert_str_eq(get(after, "/page.html"), get(table, "/page.html"));
    static_table_destroy(table);
    static_table_destroy(after);
    options.memory = 256 << 20;
}
END_TEST

START_TEST(cache_control_by_pattern)
{
    static const struct cache_rule rules[] = {
        {"/assets/*", "max-age=31536000, immutable"}, {"*.html", "no-cache"}, {"*", "private"}};
    scratch_text("public/assets/deep/a.html", "a");
    scratch_text("public/b.html", "b");
    scratch_text("public/c.txt", "c");
    options.rules = rules;
    options.rule_count = 2;
    struct static_table *table = load();
    ck_assert_str_eq(find(table, "/assets/deep/a.html")->cache_control, "max-age=31536000, immutable");
    ck_assert_str_eq(find(table, "/b.html")->cache_control, "no-cache");
    ck_assert_str_eq(find(table, "/c.txt")->cache_control, "max-age=604800");
    ck_assert_ptr_nonnull(
        strstr(find(table, "/b.html")->forms[0].block_304.ptr, "cache-control: no-cache\r\n"));
    static_table_destroy(table);
    options.rule_count = 3;
    table = load();
    ck_assert_str_eq(find(table, "/c.txt")->cache_control, "private");
    static_table_destroy(table);
}
END_TEST

START_TEST(unreadable_files_are_told)
{
    scratch_text("public/a", "a");
    scratch_text("public/b", "b");
    scratch_text("public/c/d", "d");
    char *file = scratch_path("public/a"), *folder = scratch_path("public/c");
    ck_assert_int_eq(chmod(file, 0), 0);
    ck_assert_int_eq(chmod(folder, 0), 0);
    bool root = geteuid() == 0; /* who can read everything */
    if (root)
        ck_assert(chown(scratch, 65534, 65534) == 0 && seteuid(65534) == 0);
    struct static_table *table = load();
    char *expected = xsprintf("%s: Permission denied\n%s: Permission denied\n", file, folder);
    ck_assert_str_eq(static_table_warnings(table), expected);
    ck_assert_str_eq(get(table, "/b"), "b");
    ck_assert_str_eq(get(table, "/a"), "404");
    static_table_destroy(table);
    if (root)
        ck_assert_int_eq(seteuid(0), 0);
    (void)prctl(PR_SET_DUMPABLE, 1); /* lost with the change of user, and the leak sanitizer needs it */
    ck_assert_int_eq(chmod(folder, 0700), 0);
    free(expected);
    free(folder);
    free(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("static_table");
    TCase *tests = tcase_create("static_table");
    tcase_add_checked_fixture(tests, scratch_setup, scratch_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, case_27_folders);
    tcase_add_test(tests, case_28_dotfiles);
    tcase_add_test(tests, case_23_and_25_nothing_outside);
    tcase_add_test(tests, odd_names);
    tcase_add_test(tests, fields_and_blocks);
    tcase_add_test(tests, no_folder_is_an_empty_one);
    tcase_add_test(tests, what_is_too_much_for_memory_stays_on_disk);
    tcase_add_test(tests, case_37_compressed_forms);
    tcase_add_test(tests, forms_that_lie_beside_a_file);
    tcase_add_test(tests, forms_give_way_when_memory_gets_short);
    tcase_add_test(tests, cache_control_by_pattern);
    tcase_add_test(tests, unreadable_files_are_told);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
