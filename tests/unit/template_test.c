#include "app/template.h"
#include "app/templates.h"
#include "scratch.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>

static const cg_field values[] = {
    {{"x", 1}, {"<&>\"'", 5}},     {{"x", 1}, {"second", 6}},  {{"long-name_1.a", 13}, {"v", 1}},
    {{"nul", 3}, {"a\0b", 3}},     {{"absent", 6}, {NULL, 0}}, {{"\xc3\xa4", 2}, {"umlaut", 6}},
    {{"braces", 6}, {"{{x}}", 5}},
};

static void renders_bytes(cg_str text, cg_str expected)
{
    struct arena arena = {0};
    struct page_template *page = template_parse(text);
    cg_str out = template_render(page, &arena, values, sizeof values / sizeof *values);
    ck_assert_msg(out.len == expected.len && memcmp(out.ptr, expected.ptr, out.len + 1) == 0, "%s: %s",
                  text.ptr, out.ptr);
    template_destroy(page);
    arena_finish(&arena);
}

static void renders(const char *text, const char *expected)
{
    renders_bytes(cg_string(text), cg_string(expected));
}

START_TEST(places_are_filled_in)
{
    renders("", "");
    renders("plain", "plain");
    renders("{{x}}", "&lt;&amp;&gt;&quot;&#39;");
    renders("{{{x}}}", "<&>\"'");
    renders("a{{x}}b{{{x}}}c", "a&lt;&amp;&gt;&quot;&#39;b<&>\"'c");
    renders("{{ x\t}}", "&lt;&amp;&gt;&quot;&#39;");
    renders("-{{unknown}}-{{{unknown}}}-", "---");
    renders("-{{absent}}-", "--");
    renders("{{long-name_1.a}}{{\xc3\xa4}}", "vumlaut");
    renders("{{braces}}", "{{x}}"); /* values are not looked into */
    renders_bytes(cg_bytes("a\0{{nul}}\0", 10), cg_bytes("a\0a\0b\0", 6));
}
END_TEST

START_TEST(what_is_no_place_stays)
{
    renders("{{x", "{{x");
    renders("{{x}", "{{x}");
    renders("{{{x}}", "{&lt;&amp;&gt;&quot;&#39;");
    renders("{{{{x}}}}", "{<&>\"'}");
    renders("{{}}", "{{}}");
    renders("{{ }}", "{{ }}");
    renders("{x}", "{x}");
    renders("{{", "{{");
    renders("{", "{");
    renders("}}", "}}");
    renders("{{a b}}", "{{a b}}");
    renders("{{x\n}}", "{{x\n}}");
    renders("f({{a: 1}})", "f({{a: 1}})");
    renders("{{x{{x}}", "{{x&lt;&amp;&gt;&quot;&#39;");
    renders_bytes(cg_bytes("{{x\0}}", 6), cg_bytes("{{x\0}}", 6));
}
END_TEST

START_TEST(html)
{
    struct arena arena = {0};
    cg_str out = html_escape(&arena, cg_bytes("<b a='1'>\0&", 11));
    ck_assert_uint_eq(out.len, strlen("&lt;b a=&#39;1&#39;&gt;") + 1 + 5);
    ck_assert_str_eq(out.ptr, "&lt;b a=&#39;1&#39;&gt;");
    ck_assert_str_eq(out.ptr + strlen(out.ptr) + 1, "&amp;");
    ck_assert_uint_eq(html_escape(&arena, cg_bytes(NULL, 0)).len, 0);
    arena_finish(&arena);
}
END_TEST

static void gives(struct templates *templates, const char *file, int64_t now, const char *expected)
{
    struct arena arena = {0};
    char *dir = scratch_path("functions");
    const struct page_template *page = templates_get(templates, dir, file, now);
    ck_assert_ptr_nonnull(page);
    ck_assert_str_eq(template_render(page, &arena, NULL, 0).ptr, expected);
    arena_finish(&arena);
    free(dir);
}

static void fails(struct templates *templates, const char *file, int64_t now, int error)
{
    char *dir = scratch_path("functions");
    ck_assert_ptr_null(templates_get(templates, dir, file, now));
    ck_assert_int_eq(errno, error);
    free(dir);
}

START_TEST(kept_until_the_file_changes)
{
    struct templates *templates = templates_create();
    scratch_text("functions/a/b.html", "one");
    gives(templates, "a/b.html", 0, "one");
    scratch_text("functions/a/b.html", "two!");
    gives(templates, "a/b.html", 999, "one");
    gives(templates, "a/b.html", 1000, "two!");
    char *path = scratch_path("functions/a/b.html");
    ck_assert_int_eq(unlink(path), 0);
    gives(templates, "a/b.html", 1999, "two!");
    fails(templates, "a/b.html", 2000, ENOENT);
    /* The same size and time in a new file. */
    scratch_text("functions/a/b.html", "aaa");
    const struct timespec times[] = {{.tv_sec = 1}, {.tv_sec = 1}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    gives(templates, "a/b.html", 3000, "aaa");
    scratch_text("functions/a/c.html", "bbb");
    char *other = scratch_path("functions/a/c.html");
    ck_assert_int_eq(utimensat(AT_FDCWD, other, times, 0), 0);
    ck_assert_int_eq(rename(other, path), 0);
    gives(templates, "a/b.html", 4000, "bbb");
    free(other);
    free(path);
    templates_destroy(templates);
}
END_TEST

START_TEST(only_below_functions)
{
    struct templates *templates = templates_create();
    scratch_text("functions/a/b", "b");
    scratch_text("functions/..c", "c");
    scratch_text("functions/d..", "d");
    scratch_text("secret", "s");
    gives(templates, "a/b", 0, "b");
    gives(templates, "..c", 0, "c");
    gives(templates, "d..", 0, "d");
    fails(templates, "../secret", 0, EACCES);
    fails(templates, "a/../../secret", 0, EACCES);
    fails(templates, "a/..", 0, EACCES);
    fails(templates, "..", 0, EACCES);
    fails(templates, "/etc/passwd", 0, EACCES);
    fails(templates, "", 0, EACCES);
    fails(templates, "a", 0, ENOTSUP);
    fails(templates, "none", 0, ENOENT);
    templates_destroy(templates);
    templates_destroy(NULL);
}
END_TEST

START_TEST(the_number_kept_is_bounded)
{
    struct templates *templates = templates_create();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2 * TEMPLATES_KEPT; i++) {
            char *file = xsprintf("%d", i), *name = xsprintf("functions/%d", i);
            scratch_text(name, file);
            gives(templates, file, 0, file);
            free(name);
            free(file);
        }
    templates_destroy(templates);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("template");
    TCase *tests = tcase_create("template");
    tcase_add_checked_fixture(tests, scratch_setup, scratch_teardown);
    tcase_add_test(tests, places_are_filled_in);
    tcase_add_test(tests, what_is_no_place_stays);
    tcase_add_test(tests, html);
    tcase_add_test(tests, kept_until_the_file_changes);
    tcase_add_test(tests, only_below_functions);
    tcase_add_test(tests, the_number_kept_is_bounded);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
