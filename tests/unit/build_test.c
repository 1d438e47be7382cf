#include "app/build.h"
#include "app/module.h"
#include "base/buffer.h"
#include "scratch.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <time.h>

static struct settings settings;

static void setup(void)
{
    scratch_setup();
    scratch_text("functions/note", "no source");
    settings.functions_dir = scratch_path("functions");
    settings.state_dir = scratch_path(".cloudgate");
    unsetenv("CFLAGS");
    unsetenv("CXXFLAGS");
    unsetenv("CC");
    unsetenv("CXX");
}

static void teardown(void)
{
    free((char *)settings.functions_dir);
    free((char *)settings.state_dir);
    scratch_teardown();
}

/* Files are as old as the last tick of the kernel; what is written now shall be newer than a module made
 * before. */
static void builds(int failures, const char *expected)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    ck_assert_int_eq(build_all(&settings, out), failures);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_str_eq(text, expected);
    free(text);
}

static void has(const char *name, bool expected)
{
    char *path = scratch_path(name);
    ck_assert_msg((access(path, F_OK) == 0) == expected, "%s", name);
    free(path);
}

static void make_older(const char *name)
{
    struct timespec times[2];
    char *path = scratch_path(name);
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 10;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static int answer_of(const char *name)
{
    int answer = -1;
    cg_event event = {.data = &answer};
    struct module *module = module_load(settings.functions_dir, name);
    ck_assert_msg(module->error == NULL, "%s", module->error);
    module->hooks.handle(&event);
    module_destroy(module);
    return answer;
}

#define SOURCE(value)                                                               \
    "#include <cloudgate.h>\nstatic void f(cg_event *e) { *(int *)e->data = " value \
    "; }\nCG_MODULE(.handle = f);\n"

START_TEST(what_is_built_and_what_not)
{
    scratch_text("functions/b.c", SOURCE("1"));
    scratch_text("functions/a/c.c", SOURCE("2"));
    scratch_text("functions/_d.c", "nonsense");
    scratch_text("functions/_e/f.c", "nonsense");
    scratch_text("functions/a/_g/h.c", "nonsense");
    scratch_text("functions/.i.c", "nonsense");
    scratch_text("functions/j_test.c", "nonsense");
    builds(0, "functions/a/c.c: built\nfunctions/b.c: built\n");
    ck_assert_int_eq(answer_of("a/c"), 2);
    ck_assert_int_eq(answer_of("b"), 1);
    has("functions/_d.so", false);
    has("functions/_e/f.so", false);
    has("functions/j_test.so", false);
    has(".cloudgate/include/cloudgate.h", true);
}
END_TEST

START_TEST(only_what_is_older)
{
    static const char *const sources[] = {"functions/a.c", "functions/b.c", "functions/_lib/l.c",
                                          "functions/x.h"};
    scratch_text(sources[0], SOURCE("lib()"));
    scratch_text(sources[1], SOURCE("2"));
    scratch_text(sources[2], "int lib(void) { return 3; }\n");
    scratch_text(sources[3], "");
    for (int i = 0; i < 4; i++)
        make_older(sources[i]);
    char *text = xsprintf("#include \"l.h\"\n%s", SOURCE("lib()"));
    scratch_text("functions/_lib/l.h", "int lib(void);\n");
    make_older("functions/_lib/l.h");
    scratch_text(sources[0], text);
    make_older(sources[0]);
    free(text);
    builds(0, "functions/a.c: built\nfunctions/b.c: built\n");
    ck_assert_int_eq(answer_of("a"), 3);
    make_older(".cloudgate/include/cloudgate.h");
    builds(0, "functions/a.c: up to date\nfunctions/b.c: up to date\n");
    make_older("functions/a.so");
    scratch_text(sources[0], "#include \"_lib/l.h\"\n" SOURCE("lib() + 1"));
    builds(0, "functions/a.c: built\nfunctions/b.c: up to date\n");
    ck_assert_int_eq(answer_of("a"), 4);
    make_older(sources[0]);
    builds(0, "functions/a.c: up to date\nfunctions/b.c: up to date\n");
    for (int i = 2; i < 4; i++) {
        struct timespec times[] = {{.tv_sec = time(NULL) + 10}, {.tv_sec = time(NULL) + 10}};
        char *path = scratch_path(sources[i]);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
        free(path);
        builds(0, "functions/a.c: built\nfunctions/b.c: built\n");
        make_older(sources[i]);
    }
}
END_TEST

START_TEST(a_source_that_does_not_compile)
{
    scratch_text("functions/a.c", SOURCE("1"));
    scratch_text("functions/b.c", SOURCE("2"));
    make_older("functions/b.c");
    builds(0, "functions/a.c: built\nfunctions/b.c: built\n");
    make_older(".cloudgate/include/cloudgate.h");
    scratch_text("functions/a.c", "this is no C\n");
    make_older("functions/a.so");
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* what the compiler says */
    builds(1, "functions/a.c: failed\nfunctions/b.c: up to date\n");
    ck_assert_int_eq(answer_of("a"), 1); /* the last good one */
    /* No half-made file is left. */
    char *path = xsprintf("%s/functions/.a.so.%d", scratch, (int)getpid());
    ck_assert_int_ne(access(path, F_OK), 0);
    free(path);
}
END_TEST

START_TEST(format_strings_are_checked)
{
    scratch_text("functions/a.c",
                 "#include <cloudgate.h>\nstatic void f(cg_event *e) { cg_print(e, e->body.ptr); }\n"
                 "CG_MODULE(.handle = f);\n");
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    builds(1, "functions/a.c: failed\n");
    has("functions/a.so", false);
}
END_TEST

START_TEST(flags_of_the_environment)
{
    scratch_text("functions/a b.c", SOURCE("NUMBER"));
    scratch_text("functions/c.cpp", "extern \"C\" int lib(void);\n" SOURCE("NUMBER + lib()"));
    scratch_text("functions/_lib/l.c", "int lib(void) { int class = 1; return class; }\n");
    make_older("functions/c.cpp");
    make_older("functions/_lib/l.c");
    setenv("CFLAGS", " -DNUMBER=42 -DB ", 1);
    setenv("CXXFLAGS", "-DNUMBER=43", 1);
    builds(0, "functions/a b.c: built\nfunctions/c.cpp: built\n");
    ck_assert_int_eq(answer_of("a b"), 42);
    ck_assert_int_eq(answer_of("c"), 44);
    make_older(".cloudgate/include/cloudgate.h");
    setenv("CC", "no-such-compiler -x", 1);
    make_older("functions/a b.so");
    scratch_text("functions/a b.c", SOURCE("1"));
    builds(1, "functions/a b.c: failed: can't run no-such-compiler: No such file or directory\n"
              "functions/c.cpp: up to date\n");
}
END_TEST

START_TEST(packages_of_a_source)
{
    scratch_text("functions/a.c",
                 "// cloudgate: pkgs=check\n#include <check.h>\n" SOURCE("CHECK_MAJOR_VERSION"));
    scratch_text("functions/b.c", "// cloudgate: pkgs=no-such-package\n" SOURCE("1"));
    scratch_text("functions/c.c", "// cloudgate: pkgs=check,--version\n" SOURCE("1"));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    builds(
        2,
        "functions/a.c: built\n"
        "functions/b.c: failed: pkg-config does not know the packages\n"
        "functions/c.c: failed: `// cloudgate: pkgs=` wants names of packages, as in pkgs=sqlite3,libcurl\n");
    ck_assert_int_eq(answer_of("a"), CHECK_MAJOR_VERSION);
}
END_TEST

START_TEST(two_sources_of_one_module)
{
    scratch_text("functions/a.c", SOURCE("1"));
    scratch_text("functions/a.cc", SOURCE("2"));
    builds(1, "functions/a.c: built\nfunctions/a.cc: failed: another source makes the same module\n");
    ck_assert_int_eq(answer_of("a"), 1);
}
END_TEST

START_TEST(nothing_can_be_tried)
{
    FILE *out = fopen("/dev/null", "w");
    struct settings nowhere = {.functions_dir = "/nonexistent", .state_dir = settings.state_dir};
    ck_assert_int_eq(build_all(&nowhere, out), -ENOENT);
    nowhere.state_dir = "/nonexistent/state";
    ck_assert_int_eq(build_all(&nowhere, out), -ENOENT);
    fclose(out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("build");
    TCase *tests = tcase_create("build");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, what_is_built_and_what_not);
    tcase_add_test(tests, only_what_is_older);
    tcase_add_test(tests, a_source_that_does_not_compile);
    tcase_add_test(tests, format_strings_are_checked);
    tcase_add_test(tests, flags_of_the_environment);
    tcase_add_test(tests, packages_of_a_source);
    tcase_add_test(tests, two_sources_of_one_module);
    tcase_add_test(tests, nothing_can_be_tried);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
