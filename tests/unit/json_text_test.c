#include "app/json_text.h"

#include "parse/utf8.h"
#include "suite.h"

#include <jansson.h>
#include <string.h>

static struct arena arena;

START_TEST(quotes_and_controls_are_escaped)
{
    ck_assert_text(json_quote(&arena, cg_string("")), "\"\"");
    ck_assert_text(json_quote(&arena, cg_string("a\"b\\c\n\t\x01</script>")),
                   "\"a\\\"b\\\\c\\n\\t\\u0001\\u003c/script>\"");
    ck_assert_text(json_quote(&arena, cg_bytes("a\0b", 3)), "\"a\\u0000b\"");
    arena_finish(&arena);
}
END_TEST

START_TEST(what_is_no_utf8_becomes_the_replacement_character)
{
    ck_assert_text(json_quote(&arena, cg_string("\xff")), "\"\xef\xbf\xbd\"");
    ck_assert_text(json_quote(&arena, cg_string("\xed\xa0\x80")), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    ck_assert_text(json_quote(&arena, cg_string("\xc0\xaf")), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    ck_assert_text(json_quote(&arena, cg_string("\xce\xba\xe2\x82\xac\xf0\x9f\x98\x80")),
                   "\"\xce\xba\xe2\x82\xac\xf0\x9f\x98\x80\"");
    ck_assert_text(json_quote(&arena, cg_string("\xe2\x82")), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    arena_finish(&arena);
}
END_TEST

/* jansson reads back what was quoted, for random bytes, and takes it as it stands when it was UTF-8. */
START_TEST(a_json_parser_reads_it)
{
    srand(7);
    for (int i = 0; i < 20000; i++) {
        char bytes[12];
        size_t len = (size_t)rand() % sizeof bytes;
        for (size_t k = 0; k < len; k++)
            bytes[k] =
                (char)(rand() % 4 ? "\x80\xbf\xc2\xe0\xed\xf0\xf4\xa0\x9f\x8f\x90"[rand() % 11] : rand());
        cg_str quoted = json_quote(&arena, cg_bytes(bytes, len));
        json_t *json = json_loadb(quoted.ptr, quoted.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        ck_assert_ptr_nonnull(json);
        size_t whole = 0;
        for (size_t step; whole < len && (step = utf8_length(bytes + whole, len - whole)) > 0; whole += step)
            ;
        if (whole == len) {
            ck_assert_uint_eq(json_string_length(json), len);
            ck_assert_mem_eq(json_string_value(json), bytes, len);
        }
        json_decref(json);
        arena_finish(&arena);
    }
}
END_TEST

SUITE_MAIN("json_text", quotes_and_controls_are_escaped, what_is_no_utf8_becomes_the_replacement_character,
           a_json_parser_reads_it)
