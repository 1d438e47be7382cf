#include "config/env.h"
#include "suite.h"

#include <stdlib.h>

static struct arena arena;
static struct problems problems;
static struct env env;

static void parse_bytes(const char *text, size_t len)
{
    env = (struct env){0};
    env_parse(text, len, ".env", &arena, &problems, &env);
}

static void parse(const char *text)
{
    parse_bytes(text, strlen(text));
}

static void teardown(void)
{
    problems_finish(&problems);
    arena_finish(&arena);
}

START_TEST(values)
{
    static const struct {
        const char *text, *value;
    } rows[] = {
        {"K=value", "value"},
        {"K=value\r\n", "value"},
        {"  export K=value  ", "value"},
        {"export\tK=value", "value"},
        {"K = value two ", "value two"},
        {"\xef\xbb\xbfK=value", "value"},
        {"K=a#b # comment", "a#b"},
        {"K=a=b", "a=b"},
        {"K=\"a # b\" # comment", "a # b"},
        {"K='a\\n$X \"q\"'", "a\\n$X \"q\""},
        {"K=\"a\\n\\t\\\"\\\\\\$\\q\"", "a\n\t\"\\$\\q"},
        {"K=\"two\nlines\"", "two\nlines"},
        {"K=${X}", "${X}"},
        {"K=first\nK=second", "second"},
        {"exportK=1\nK=2", "2"},
        {"# K=no\n\n\nK=yes", "yes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse(rows[i].text);
        const struct variable *found = env_find(&env, "K");
        ck_assert_msg(problems.count == 0, "%s: %s", rows[i].text, problems.text.data);
        ck_assert_msg(found != NULL, "%s", rows[i].text);
        ck_assert_str_eq(found->value, rows[i].value);
    }
}
END_TEST

START_TEST(empty_is_unset)
{
    parse("A=\nB=''\nC=\"\"\nD= # nothing\nE=1\nE=");
    ck_assert_int_eq(problems.count, 0);
    ck_assert_uint_eq(env.count, 6);
    for (const char *name = "ABCDE"; *name != '\0'; name++)
        ck_assert_ptr_null(env_find(&env, (const char[]){*name, '\0'}));
}
END_TEST

START_TEST(lines_are_counted)
{
    parse("\n# x\nA=1\nB=\"1\n2\n3\"\nC=1");
    ck_assert_int_eq(env_find(&env, "A")->line, 3);
    ck_assert_int_eq(env_find(&env, "B")->line, 4);
    ck_assert_int_eq(env_find(&env, "C")->line, 7);
}
END_TEST

START_TEST(mistakes_name_their_line)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"A=1\nJUST_A_NAME\nB=2", ".env:2: a name without '='"},
        {"A=1\n1A=2\nB=2", ".env:2: no valid name"},
        {"A=1\nA-B=2\nB=2", ".env:2: a name without '='"},
        {"A=1\n=2\nB=2", ".env:2: no valid name"},
        {"B=2\nA=1\nC='open\n", ".env:3: a quote that is not closed"},
        {"B=2\nA=1\nC=\"open\\\"\n", ".env:3: a quote that is not closed"},
        {"A=1\nC='x'y\nB=2", ".env:2: something behind the closing quote"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse(rows[i].text);
        ck_assert_int_eq(problems.count, 1);
        ck_assert_msg(strncmp(problems.text.data, rows[i].error, strlen(rows[i].error)) == 0, "%s",
                      problems.text.data);
        ck_assert_str_eq(env_find(&env, "A")->value, "1");
        ck_assert_str_eq(env_find(&env, "B")->value, "2"); /* the rest is read all the same */
        problems_finish(&problems);
    }
}
END_TEST

START_TEST(a_nul_is_refused)
{
    parse_bytes("A=1\nB=x\0y\n", 10);
    ck_assert_str_eq(problems.text.data, ".env:2: a NUL byte\n");
    ck_assert_uint_eq(env.count, 0);
    parse_bytes(NULL, 0);
    ck_assert_int_eq(problems.count, 1);
}
END_TEST

START_TEST(many_variables)
{
    struct buffer text = {0};
    for (int i = 0; i < 1000; i++)
        buffer_printf(&text, "K%d=%d\n", i, i);
    parse(text.data);
    ck_assert_uint_eq(env.count, 1000);
    ck_assert_str_eq(env_find(&env, "K999")->value, "999");
    ck_assert_str_eq(env_find(&env, "K0")->value, "0");
    buffer_finish(&text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("env");
    TCase *tests = tcase_create("env");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, values);
    tcase_add_test(tests, empty_is_unset);
    tcase_add_test(tests, lines_are_counted);
    tcase_add_test(tests, mistakes_name_their_line);
    tcase_add_test(tests, a_nul_is_refused);
    tcase_add_test(tests, many_variables);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
