/* The main of a test program that has one suite, and what the tests of slices share. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <cloudgate.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The bytes of a slice are those of a literal, which may hold NULs. */
#define ck_assert_slice(slice, literal)                            \
    do {                                                           \
        cg_str slice_ = (slice);                                   \
        ck_assert_uint_eq(slice_.len, sizeof literal - 1);         \
        ck_assert_mem_eq(slice_.ptr, literal, sizeof literal - 1); \
    } while (0)

/* The same, and a NUL comes behind. */
#define ck_assert_text(slice, literal)                \
    do {                                              \
        cg_str text_ = (slice);                       \
        ck_assert_slice(text_, literal);              \
        ck_assert_int_eq(text_.ptr[text_.len], '\0'); \
    } while (0)

/* Runs the suite and gives the exit status of its program. */
static inline int suite_end(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int suite_run(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}

#define SUITE_MAIN(name, ...)                        \
    int main(void)                                   \
    {                                                \
        const TTest *tests[] = {__VA_ARGS__};        \
        return suite_run(name, tests, COUNT(tests)); \
    }

#endif
