#include "app/elf.h"
#include "app/module.h"
#include "app/modules.h"
#include "scratch.h"
#include "suite.h"

#include <errno.h>

static struct module *load(const char *name)
{
    char *dir = scratch_path("functions");
    struct module *module = module_load(dir, name);
    free(dir);
    return module;
}

static int call(cg_handler *handler)
{
    int result = -1;
    cg_event event = {.data = &result};
    handler(&event);
    return result;
}

/* Loads the module, which must be refused with just this text behind "functions/NAME.so: ". */
static void refuses(const char *name, const char *text)
{
    struct module *module = load(name);
    char *expected = xsprintf("functions/%s.so: %s", name, text);
    ck_assert_ptr_nonnull(module->error);
    ck_assert_str_eq(module->error, expected);
    ck_assert_ptr_null(module_handler(module, "x"));
    free(expected);
    module_destroy(module);
}

static char *read_file(const char *name, size_t *ret_size)
{
    char *path = scratch_path(name);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *data = xalloc(1 << 20);
    *ret_size = fread(data, 1, 1 << 20, file);
    fclose(file);
    free(path);
    return data;
}

#define ANSWER(n) "static void f(cg_event *e) { *(int *)e->data = " #n "; }\n"

START_TEST(loads_hooks_and_handlers)
{
    scratch_module("a/hello", ANSWER(1) "static void g(cg_event *e) { *(int *)e->data = 2; }\n"
                                        "CG_MODULE(.get = f);\nCG_HANDLER(g);");
    struct module *module = load("a/hello");
    ck_assert_ptr_null(module->error);
    ck_assert_str_eq(module->name, "a/hello");
    ck_assert_str_eq(module->file, "functions/a/hello.so");
    ck_assert_int_eq(call(module->hooks.get), 1);
    ck_assert_int_eq(call(module_handler(module, "g")), 2);
    ck_assert_ptr_null(module_handler(module, "f"));
    ck_assert_ptr_null(module->hooks.post);
    module_destroy(module);
}
END_TEST

START_TEST(case_76_a_new_build_is_really_loaded)
{
    struct module *modules[8];
    for (int i = 0; i < 8; i++) {
        char *source = xsprintf("static int n = %d; static void f(cg_event *e) { *(int *)e->data = n++; }\n"
                                "CG_MODULE(.handle = f);",
                                100 * i);
        scratch_module("hello", source);
        free(source);
        modules[i] = load("hello");
        ck_assert_ptr_null(modules[i]->error);
        ck_assert_int_eq(call(modules[i]->hooks.handle), 100 * i);
    }
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(call(modules[i]->hooks.handle), 100 * i + 1);
        module_destroy(modules[i]);
    }
}
END_TEST

/* The loader never forgets such an object, nor its path; the next copy must not be taken for it. */
START_TEST(case_76_after_one_that_can_not_be_unloaded)
{
    char *dir = scratch_path("functions/hello");
    char *command =
        xsprintf("cc -std=gnu11 -shared -fPIC -Wl,-z,nodelete -I'%s' -o '%s.so' '%s.c'", scratch, dir, dir);
    for (int i = 1; i <= 3; i++) {
        char *source =
            xsprintf("#include <cloudgate.h>\nstatic void f(cg_event *e) { *(int *)e->data = %d; }\n"
                     "CG_MODULE(.handle = f);\n",
                     i);
        scratch_text("functions/hello.c", source);
        free(source);
        ck_assert_int_eq(system(command), 0);
        struct module *module = load("hello");
        ck_assert_ptr_null(module->error);
        ck_assert_int_eq(call(module->hooks.handle), i);
        module_destroy(module);
    }
    free(command);
    free(dir);
}
END_TEST

START_TEST(case_77_overwriting_the_file_reaches_nothing)
{
    scratch_module("hello", ANSWER(7) "CG_MODULE(.handle = f);");
    struct module *module = load("hello");
    ck_assert_ptr_null(module->error);
    scratch_text("functions/hello.so", "gone");
    ck_assert_int_eq(call(module->hooks.handle), 7);
    module_destroy(module);
}
END_TEST

START_TEST(case_79_missing_things_are_named)
{
    refuses("nowhere", "No such file or directory");
    scratch_module("external",
                   "int no_such_fn(void);\nstatic void f(cg_event *e) { if (e->data) no_such_fn(); }\n"
                   "CG_MODULE(.handle = f);");
    refuses("external", "undefined symbol: no_such_fn");
    scratch_module("plain", "int x;");
    refuses("plain", "has no CG_MODULE(...)");
}
END_TEST

START_TEST(what_this_version_lacks_is_named)
{
    scratch_module("flag", ANSWER(1) "CG_MODULE(.flags = 64, .handle = f);");
    refuses("flag", "the flag 0x40 is not in this version");
}
END_TEST

START_TEST(other_versions_of_the_header)
{
    scratch_module("old", "struct { unsigned abi, size; } cg_module_export = {2, 8};");
    refuses("old", "was built for version 2 of <cloudgate.h>, this server has version 1");
    scratch_module("grown", ANSWER(5) "struct { cg_module known; void *more; } cg_module_export =\n"
                                      "{{.abi = CG_ABI, .size = sizeof(cg_module) + 8, .handle = f}, 0};");
    struct module *module = load("grown");
    ck_assert_ptr_null(module->error);
    ck_assert_int_eq(call(module->hooks.handle), 5);
    module_destroy(module);
    scratch_module("newer", ANSWER(5) "struct { cg_module known; void *more; } cg_module_export =\n"
                                      "{{.abi = CG_ABI, .size = sizeof(cg_module) + 8, .handle = f}, f};");
    refuses("newer", "a hook of a newer <cloudgate.h> is not in this version");
    scratch_module("small", ANSWER(6) "struct { unsigned abi, size; unsigned long flags; void *hooks[5]; }\n"
                                      "cg_module_export = {CG_ABI, 56, 0, {0, 0, 0, 0, f}};");
    module = load("small");
    ck_assert_ptr_null(module->error);
    ck_assert_int_eq(call(module->hooks.handle), 6);
    ck_assert_ptr_null(module->hooks.get);
    module_destroy(module);
}
END_TEST

START_TEST(files_that_are_no_modules)
{
    scratch_text("functions/text.so", "#!/bin/sh\n");
    refuses("text", "is no shared object");
    scratch_text("functions/empty.so", "");
    refuses("empty", "is empty");
    scratch_text("functions/folder.so/x", "");
    refuses("folder", "is no file");
    char *fifo = scratch_path("functions/fifo.so");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    free(fifo);
    refuses("fifo", "is no file");
    refuses("../functions/text", "is not below the folder of functions");
    refuses("/tmp/text", "is not below the folder of functions");
    refuses("a/..", "is not below the folder of functions");
    refuses("", "is not below the folder of functions");
}
END_TEST

START_TEST(truncated_and_foreign_objects)
{
    size_t size;
    scratch_module("hello", ANSWER(1) "CG_MODULE(.handle = f);");
    char *data = read_file("functions/hello.so", &size);
    ck_assert_ptr_null(elf_problem(data, size));
    for (size_t len = 0; len < size; len++) {
        char *part = xalloc(len + 1);
        memcpy(part, data, len);
        ck_assert_ptr_nonnull(elf_problem(part, len));
        free(part);
    }
    scratch_write("functions/half.so", data, size / 2);
    refuses("half", "is truncated");
    data[18] ^= 0x55;
    scratch_write("functions/foreign.so", data, size);
    refuses("foreign", "is made for another kind of machine");
    free(data);
}
END_TEST

/* Whatever single byte of the headers is wrong: an answer, and no read outside (for the sanitizers to see).
 */
START_TEST(damaged_headers)
{
    size_t size;
    scratch_module("hello", ANSWER(1) "CG_MODULE(.handle = f);");
    char *data = read_file("functions/hello.so", &size), *copy = xalloc(size);
    for (size_t at = 0; at < 1024 && at < size; at++)
        for (int value = 0; value < 256; value += 51) {
            memcpy(copy, data, size);
            copy[at] = (char)value;
            (void)elf_problem(copy, size);
        }
    memcpy(copy, data, size);
    memset(copy + 32, 0xff, 8); /* program headers far away */
    ck_assert_str_eq(elf_problem(copy, size), "truncated");
    free(copy);
    free(data);
}
END_TEST

START_TEST(hooks_of_life)
{
    scratch_module(
        "life", ANSWER(1) "static int n;\nstatic int init(void) { n += 1; return 0; }\n"
                          "static void fini(void) { n += 10; }\n"
                          "static int begin(void) { n += 100; return 0; }\n"
                          "static void end(void) { n += 1000; }\n"
                          "static void count(cg_event *e) { *(int *)e->data = n; }\n"
                          "CG_MODULE(.init = init, .fini = fini, .thread_init = begin, .thread_fini = end,\n"
                          "          .handle = count);");
    struct module *module = load("life");
    module_stop(module); /* not started: nothing */
    ck_assert_int_eq(call(module->hooks.handle), 0);
    ck_assert_int_eq(module_start(module), 0);
    ck_assert_int_eq(module_thread_start(module), 0);
    ck_assert_int_eq(call(module->hooks.handle), 101);
    module_thread_stop(module);
    module_stop(module);
    module_stop(module);
    ck_assert_int_eq(call(module->hooks.handle), 1111);
    module_destroy(module);

    scratch_module("bad",
                   ANSWER(1) "static int init(void) { return -3; }\nCG_MODULE(.init = init, .handle = f);");
    module = load("bad");
    ck_assert_int_eq(module_start(module), -EINVAL);
    ck_assert_str_eq(module->error, "functions/bad.so: init failed with -3");
    module_destroy(module);
}
END_TEST

START_TEST(all_modules_of_a_folder)
{
    static const char *const made[] = {"b", "a/z", "a/b/c", "_hidden", "_lib/x", ".dot", "a_test", "a-b"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        scratch_module(made[i], ANSWER(1) "CG_MODULE(.handle = f);");
    struct route_setting routes[] = {
        {.path = cg_string("_hidden")}, {.path = cg_string("gone")}, {.path = cg_string("b")}};
    struct settings settings = {
        .functions_dir = scratch_path("functions"), .routes = routes, .route_count = 3};
    struct modules modules;
    char *error = NULL;
    ck_assert_int_eq(modules_load(&settings, &modules, &error), 0);
    static const char *const expected[] = {"_hidden", "a-b", "a/b/c", "a/z", "b", "gone"};
    ck_assert_uint_eq(modules.count, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_str_eq(modules.items[i]->name, expected[i]);
        ck_assert_ptr_eq(modules_find(&modules, cg_string(expected[i])), modules.items[i]);
    }
    ck_assert_ptr_null(modules_find(&modules, cg_string("a")));
    ck_assert_ptr_null(modules_find(&modules, cg_string("zz")));
    ck_assert_str_eq(modules.items[5]->error, "functions/gone.so: No such file or directory");
    ck_assert_ptr_null(modules.items[0]->error);
    modules_start(&modules);
    ck_assert(modules.items[0]->started && !modules.items[5]->started);
    modules_stop(&modules);
    modules_finish(&modules);
    free((char *)settings.functions_dir);

    settings = (struct settings){.functions_dir = "/nonexistent/functions"};
    ck_assert_int_eq(modules_load(&settings, &modules, &error), 0);
    ck_assert_uint_eq(modules.count, 0);
    modules_finish(&modules);
}
END_TEST

START_TEST(a_thread_that_can_not_start)
{
    scratch_module(
        "a", "static int n;\nstatic int begin(void) { n++; return 0; }\nstatic void end(void) { n--; }\n"
             "static void count(cg_event *e) { *(int *)e->data = n; }\n"
             "CG_MODULE(.thread_init = begin, .thread_fini = end, .handle = count);");
    scratch_module(
        "b", ANSWER(1) "static int begin(void) { return 9; }\nCG_MODULE(.thread_init = begin, .handle = f);");
    struct settings settings = {.functions_dir = scratch_path("functions")};
    struct modules modules;
    const struct module *failed = NULL;
    char *error = NULL;
    ck_assert_int_eq(modules_load(&settings, &modules, &error), 0);
    ck_assert_int_eq(modules_thread_start(&modules, &failed), 9);
    ck_assert_ptr_eq(failed, modules.items[1]);
    ck_assert_int_eq(call(modules.items[0]->hooks.handle), 0);
    modules_finish(&modules);
    free((char *)settings.functions_dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("module");
    TCase *tests = tcase_create("module");
    tcase_add_checked_fixture(tests, scratch_setup, scratch_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, loads_hooks_and_handlers);
    tcase_add_test(tests, case_76_a_new_build_is_really_loaded);
    tcase_add_test(tests, case_76_after_one_that_can_not_be_unloaded);
    tcase_add_test(tests, case_77_overwriting_the_file_reaches_nothing);
    tcase_add_test(tests, case_79_missing_things_are_named);
    tcase_add_test(tests, what_this_version_lacks_is_named);
    tcase_add_test(tests, other_versions_of_the_header);
    tcase_add_test(tests, files_that_are_no_modules);
    tcase_add_test(tests, truncated_and_foreign_objects);
    tcase_add_test(tests, damaged_headers);
    tcase_add_test(tests, hooks_of_life);
    tcase_add_test(tests, all_modules_of_a_folder);
    tcase_add_test(tests, a_thread_that_can_not_start);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
