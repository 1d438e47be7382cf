#include "base/buffer.h"
#include "suite.h"

#include <string.h>

START_TEST(it_grows_and_stays_terminated)
{
    struct buffer buffer = {0};
    for (size_t i = 0; i < 10000; i++) {
        buffer_append(&buffer, &"0123456789"[i % 10], 1);
        ck_assert_int_eq(buffer.data[buffer.len], '\0');
    }
    ck_assert_uint_eq(buffer.len, 10000);
    ck_assert_int_eq(buffer.data[9999], '9');
    buffer_finish(&buffer);
    ck_assert_ptr_null(buffer.data);
}
END_TEST

START_TEST(formatting_appends)
{
    struct buffer buffer = {0};
    buffer_text(&buffer, "a");
    buffer_printf(&buffer, "%d-%200s", 5, "z");
    ck_assert_uint_eq(buffer.len, 203);
    ck_assert_int_eq(strncmp(buffer.data, "a5- ", 4), 0);
    buffer_finish(&buffer);
}
END_TEST

START_TEST(consuming_takes_from_the_front)
{
    struct buffer buffer = {0};
    buffer_text(&buffer, "hello world");
    buffer_consume(&buffer, 6);
    ck_assert_str_eq(buffer.data, "world");
    buffer_consume(&buffer, 5);
    ck_assert_uint_eq(buffer.len, 0);
    buffer_consume(&buffer, 0);
    buffer_finish(&buffer);
}
END_TEST

START_TEST(what_is_detached_is_never_null)
{
    struct buffer buffer = {0};
    char *text = buffer_detach(&buffer);
    ck_assert_str_eq(text, "");
    free(text);
    buffer_text(&buffer, "kept");
    text = buffer_detach(&buffer);
    ck_assert_str_eq(text, "kept");
    ck_assert_ptr_null(buffer.data);
    free(text);
}
END_TEST

SUITE_MAIN("buffer", it_grows_and_stays_terminated, formatting_appends, consuming_takes_from_the_front,
           what_is_detached_is_never_null)
