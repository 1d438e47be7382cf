#include "config/yaml.h"

#include "config/json.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct problems problems;

static struct node *parse_bytes(const char *text, size_t len)
{
    problems_finish(&problems);
    return yaml_parse(cg_bytes(text, len), "f", &arena, &problems);
}

static struct node *parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static struct node *parse_json(const char *text)
{
    cg_str yaml;
    problems_finish(&problems);
    if (!json_to_yaml(cg_string(text), "f", &arena, &problems, &yaml))
        return NULL;
    return yaml_parse(yaml, "f", &arena, &problems);
}

static void assert_told(const char *text, const char *error)
{
    ck_assert_msg(problems.count > 0, "nothing is told about %s", text);
    ck_assert_msg(strstr(problems.text.data, error) != NULL, "%s: %s", text, problems.text.data);
}

static void teardown(void)
{
    problems_finish(&problems);
    arena_finish(&arena);
}

START_TEST(tree_with_lines)
{
    const struct node *root = parse("# comment\na: 1\nb:\n  - x\n  - \"y\"\nc: {d: no, e: [1, 2]}\n");
    ck_assert_int_eq(problems.count, 0);
    ck_assert_int_eq(root->kind, NODE_MAP);
    const struct node *a = node_find(root, "a"), *b = node_find(root, "b"), *c = node_find(root, "c");
    ck_assert_str_eq(a->text, "1");
    ck_assert_int_eq(a->key_line, 2);
    ck_assert_int_eq(b->kind, NODE_LIST);
    ck_assert_int_eq(b->key_line, 3);
    ck_assert_int_eq(b->items->line, 4);
    ck_assert_str_eq(b->items->next->text, "y");
    ck_assert(!b->items->quoted && b->items->next->quoted);
    ck_assert_ptr_null(b->items->next->next);
    ck_assert_str_eq(node_find(c, "d")->text, "no");
    ck_assert_int_eq(node_find(c, "e")->line, 6);
    ck_assert_ptr_null(node_find(root, "d"));
}
END_TEST

START_TEST(nothing)
{
    static const char *const texts[] = {"",      "\n\n",       "# only a comment\n", "null", "~",
                                        "---\n", "---\n...\n", "\xef\xbb\xbf",       "\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_ptr_null(parse(texts[i]));
        ck_assert_msg(problems.count == 0, "%s", problems.text.data);
    }
    ck_assert_ptr_null(parse_bytes(NULL, 0));
    ck_assert_int_eq(problems.count, 0);
}
END_TEST

START_TEST(byte_order_mark_and_cr)
{
    const struct node *root = parse("\xef\xbb\xbf"
                                    "a: 1\r\nb: two\r\n");
    ck_assert_str_eq(node_find(root, "a")->text, "1");
    ck_assert_str_eq(node_find(root, "b")->text, "two");
    ck_assert_int_eq(node_find(root, "b")->key_line, 2);
}
END_TEST

START_TEST(case_90_duplicate_keys)
{
    parse("port: 8080\nhost: x\nport: 9090\n");
    ck_assert_str_eq(problems.text.data, "f:3: duplicate key 'port', first in line 1\n");
    parse("REST:\n  /a: {path: x}\n  /b: {path: y, \"path\": z}\n  /a: {path: y}\n");
    ck_assert_str_eq(problems.text.data, "f:3: duplicate key 'path', first in line 3\n"
                                         "f:4: duplicate key '/a', first in line 2\n");
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"a: 1\n---\nb: 2\n", "f:2: a second document"},
        {"--- a\n--- b\n", "f:2: a second document"},
        {"a: !!int 1\n", "f:1: tags"},
        {"a: !x {b: 1}\n", "f:1: tags"},
        {"\n!x a: 1\n", "f:2: tags"},
        {"a: &x {b: 1}\nc:\n  <<: *x\n", "f:3: merge keys"},
        {"a: 1\nb: *nobody\n", "f:2: an alias"},
        {"a: &x [*x]\n", "f:1: an alias"},
        {"a: &x 1\nb: &x 2\n", "f:2: an anchor"},
        {"a: 1\n[b, c]: 2\n", "f:2: a key must be"},
        {"? {a: 1}\n: 2\n", "f:1: a key must be"},
        {"a: \"x\\0y\"\n", "f:1: a NUL byte"},
        {"\"x\\0y\": 1\n", "f:1: a NUL byte"},
        {"a: b\nc: \xff\xfe\n", "f:2: "},
        {"a: b\n\nc: \xc0\xaf\n", "f:3: "},
        {"a: b\nc: \x01\n", "f:2: "},
        {"a: [1, 2\n", "f:2: "},
        {"a: b: c\n", "f:1: "},
        {"a:\n\t- b\n", "f:2: "},
        {"a: 'open\n", "f:2: "},
        {"\xff\xfe"
         "a\0:\0",
         "f:1: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse(rows[i].text);
        assert_told(rows[i].text, rows[i].error);
    }
    parse_bytes("a: 1\nb: x\0y\n", 12);
    assert_told("NUL", "f:2: ");
}
END_TEST

START_TEST(aliases_are_copies)
{
    const struct node *root = parse("x-common: &c {a: 1, b: [2, 3]}\ny: *c\nz: *c\n");
    ck_assert_int_eq(problems.count, 0);
    const struct node *y = node_find(root, "y"), *z = node_find(root, "z");
    ck_assert_int_eq(y->key_line, 2);
    ck_assert_int_eq(z->key_line, 3);
    ck_assert_str_eq(node_find(z, "b")->items->next->text, "3");
    ck_assert_ptr_ne(node_find(y, "a"), node_find(z, "a"));
}
END_TEST

START_TEST(a_billion_laughs)
{
    struct buffer text = {0};
    buffer_text(&text, "a0: &a0 lol\n");
    for (int i = 1; i < 12; i++) {
        buffer_printf(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 9; j++)
            buffer_printf(&text, "*a%d, ", i - 1);
        buffer_text(&text, "]\n");
    }
    parse(text.data);
    assert_told("laughs", "too many values");
    ck_assert_uint_lt(arena_size(&arena), (size_t)32 << 20);
    buffer_finish(&text);
}
END_TEST

START_TEST(bounds)
{
    struct buffer text = {0};
    for (int i = 0; i < 100000; i++)
        buffer_text(&text, "[");
    parse(text.data);
    assert_told("[[[", "nested too deeply");
    buffer_finish(&text);

    buffer_text(
        &text,
        "a: &a [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\nb: [[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]\n");
    parse(text.data);
    assert_told("alias", "nested too deeply");
    buffer_finish(&text);

    for (int i = 0; i <= YAML_NODES_MAX; i++)
        buffer_text(&text, "- x\n");
    parse(text.data);
    assert_told("list", "too many values");
    buffer_finish(&text);

    buffer_reserve(&text, YAML_SIZE_MAX + 1);
    memset(text.data, '\n', YAML_SIZE_MAX + 1);
    parse_bytes(text.data, YAML_SIZE_MAX);
    ck_assert_int_eq(problems.count, 0);
    parse_bytes(text.data, YAML_SIZE_MAX + 1);
    assert_told("size", "larger than");
    buffer_finish(&text);
}
END_TEST

START_TEST(json_corners)
{
    const struct node *root =
        parse_json("\t{\n\t\"a\"\n\t:\t\"\\uD83D\\uDE00\\/"
                   "\\\"\\\\\\n\\u00e9\",\"b\":[1,-2.5,true,null],\r\n\"c\":{\"d\\\\\":\"{x: 1}\"} }");
    ck_assert_msg(problems.count == 0, "%s", problems.text.data);
    ck_assert_str_eq(node_find(root, "a")->text, "\xf0\x9f\x98\x80/\"\\\n\xc3\xa9");
    ck_assert_int_eq(node_find(root, "a")->key_line, 2);
    ck_assert_int_eq(node_find(root, "b")->key_line, 3);
    ck_assert_str_eq(node_find(root, "b")->items->next->text, "-2.5");
    ck_assert(node_is_null(node_find(root, "b")->items->next->next->next));
    ck_assert_int_eq(node_find(root, "c")->key_line, 4);
    ck_assert_str_eq(node_find(node_find(root, "c"), "d\\")->text, "{x: 1}");

    ck_assert_ptr_null(parse_json(" \n"));
    ck_assert_int_eq(problems.count, 0);
    ck_assert_ptr_null(parse_json("null"));
    ck_assert_int_eq(problems.count, 0);
}
END_TEST

START_TEST(json_is_no_yaml)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"{\n\"a\": 1,\n}", "f:3: "},
        {"{a: 1}", "f:1: "},
        {"a: 1", "f:1: "},
        {"{'a': 1}", "f:1: "},
        {"{\"a\": 1} x", "f:1: "},
        {"{\"a\": 01}", "f:1: "},
        {"{\"a\": \"\\uD83D\"}", "f:1: "},
        {"{\"a\": \"\\u0000\"}", "f:1: "},
        {"{\"a\": \"x\ty\"}", "f:1: "},
        {"{\"a\": 1,\n \"a\": 2}", "f:2: duplicate key 'a', first in line 1"},
        {"// comment\n{}", "f:1: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse_json(rows[i].text);
        assert_told(rows[i].text, rows[i].error);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("yaml");
    TCase *tests = tcase_create("yaml");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, tree_with_lines);
    tcase_add_test(tests, nothing);
    tcase_add_test(tests, byte_order_mark_and_cr);
    tcase_add_test(tests, case_90_duplicate_keys);
    tcase_add_test(tests, refused);
    tcase_add_test(tests, aliases_are_copies);
    tcase_add_test(tests, a_billion_laughs);
    tcase_add_test(tests, bounds);
    tcase_add_test(tests, json_corners);
    tcase_add_test(tests, json_is_no_yaml);
    suite_add_tcase(suite, tests);
    return suite_end(suite);
}
