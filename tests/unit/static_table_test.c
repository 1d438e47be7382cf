#include "app/static_table.h"
#include "base/clock.h"
#include "parse/path.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/prctl.h>

static struct static_table *load(void)
{
    struct static_table *table = NULL;
    char *error = NULL, *dir = scratch_path("public");
    ck_assert_msg(static_table_load(dir, &table, &error) == 0, "%s", error);
    free(dir);
    return table;
}

/* What a request for this URL finds: the content, "->" for a redirect, "404", "400". */
static const char *get(const struct static_table *table, const char *url)
{
    char path[256];
    size_t len;
    const struct static_file *file;
    ck_assert_uint_lt(strlen(url), sizeof path);
    if (path_normalise(url, strlen(url), path, &len) < 0)
        return "400";
    switch (static_table_find(table, cg_bytes(path, len), &file)) {
    case STATIC_FILE:
        return file->data.ptr;
    case STATIC_DIRECTORY:
        return "->";
    default:
        return "404";
    }
}

static const struct static_file *find(const struct static_table *table, const char *path)
{
    const struct static_file *file = NULL;
    ck_assert_int_eq(static_table_find(table, cg_string(path), &file), STATIC_FILE);
    return file;
}

static void link_to(const char *target, const char *name)
{
    char *path = scratch_path(name);
    ck_assert_int_eq(symlink(target, path), 0);
    free(path);
}

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
    const struct static_file *a = find(table, "/a.js"), *b = find(table, "/b.js"), *c = find(table, "/c.js");
    ck_assert_uint_eq(a->data.len, 3);
    ck_assert_int_eq(memcmp(a->data.ptr, "a\0b", 4), 0);
    ck_assert_int_eq(a->modified, 784111777);
    ck_assert_str_eq(a->modified_text, "Sun, 06 Nov 1994 08:49:37 GMT");
    ck_assert_int_le(c->modified, wall_ms() / 1000);
    ck_assert_str_eq(a->etag.ptr, b->etag.ptr);
    ck_assert_str_ne(a->etag.ptr, c->etag.ptr);
    ck_assert(a->etag.len == 24 && a->etag.ptr[0] == '"' && a->etag.ptr[23] == '"');
    char *expected =
        xsprintf("content-type: text/javascript; charset=utf-8\r\netag: %s\r\n"
                 "last-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\ncache-control: max-age=604800\r\n"
                 "x-content-type-options: nosniff\r\ncontent-length: 3\r\n",
                 a->etag.ptr);
    ck_assert_str_eq(a->block.ptr, expected);
    ck_assert_uint_eq(a->block.len, strlen(expected));
    free(expected);
    expected = xsprintf(
        "etag: %s\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\ncache-control: max-age=604800\r\n",
        a->etag.ptr);
    ck_assert_str_eq(a->block_304.ptr, expected);
    free(expected);
    ck_assert_uint_eq(a->field_count, 5);
    ck_assert_str_eq(a->fields[0].name.ptr, "content-type");
    ck_assert_str_eq(a->fields[0].value.ptr, "text/javascript; charset=utf-8");
    ck_assert_uint_eq(find(table, "/empty.css")->data.len, 0);
    ck_assert_str_eq(static_table_not_found(table)->data.ptr, "lost");
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

START_TEST(too_much_is_refused)
{
    scratch_text("public/small", "x");
    scratch_text("public/large", "");
    char *large = scratch_path("public/large"), *dir = scratch_path("public"), *error = NULL;
    struct static_table *table = NULL;
    ck_assert_int_eq(truncate(large, STATIC_TABLE_MAX_BYTES + 1), 0);
    ck_assert_int_eq(static_table_load(dir, &table, &error), -E2BIG);
    ck_assert_ptr_null(table);
    ck_assert_ptr_nonnull(strstr(error, "256 MB"));
    free(error);
    free(dir);
    free(large);
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
    tcase_add_test(tests, too_much_is_refused);
    tcase_add_test(tests, unreadable_files_are_told);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
