#include "config/options.h"

#include "config/describe.h"
#include "config/file.h"
#include "suite.h"

#include <string.h>

/* `cloudgate check` and `cloudgate help settings` leave none out. */
START_TEST(every_option_is_told_of)
{
    struct settings *settings;
    char *told;
    ck_assert_int_eq(file_parse_alone(cg_string(""), false, "/nowhere", &settings, &told), 0);
    char *values = settings_describe(settings), *help = options_describe(), *row = help;
    for (const struct option *option = options; option < options + OPTION_COUNT; option++) {
        struct buffer value = {0}, begin = {0};
        buffer_printf(&value, "\n%s = ", option->key);
        ck_assert_msg(strstr(values, value.data) != NULL, "no %s in:\n%s", option->key, values);
        ck_assert_msg(option->help != NULL && option->help[0] != '\0', "%s", option->name);
        buffer_printf(&begin, "%-16s %-6s %s", option->name, option->fallback != NULL ? option->fallback : "",
                      option->help);
        ck_assert_msg(strncmp(row, begin.data, begin.len) == 0, "no %s in:\n%s", begin.data, help);
        row = strchr(row, '\n') + 1;
        buffer_finish(&value);
        buffer_finish(&begin);
    }
    ck_assert_str_eq(row, "");
    free(values);
    free(help);
    settings_destroy(settings);
}
END_TEST

static bool reads(const struct option *option, const char *text, const char **ret_why)
{
    static struct arena arena; /* of a process that ends with the test */
    struct value value;
    return option_read(option, text, "", &arena, &value, ret_why);
}

/* Who writes 3 means seconds; and what may be 0 may not be 3 ms either. */
START_TEST(durations_that_are_none)
{
    const char *why;
    int count = 0;
    for (const struct option *option = options; option < options + OPTION_COUNT; option++) {
        if (option->kind != OPTION_DURATION)
            continue;
        count++;
        ck_assert_msg(reads(option, "100", &why), "%s", option->name);
        ck_assert_msg(!reads(option, "99ms", &why), "%s", option->name);
        ck_assert_msg(!reads(option, "3", &why), "%s", option->name);
        ck_assert_str_eq(why, option->min == 0
                                  ? "'3' is out of range (0, or 100 ms to 86400 s; a number alone is ms)"
                                  : "'3' is out of range (100 ms to 86400 s; a number alone is ms)");
        ck_assert_msg(reads(option, "0", &why) == (option->min == 0), "%s", option->name);
    }
    ck_assert_int_gt(count, 0);
    ck_assert(reads(&options[OPTION_STOP_DELAY], "0", &why));
    ck_assert(!reads(&options[OPTION_WRITE_TIMEOUT], "0", &why));
}
END_TEST

SUITE_MAIN("options", every_option_is_told_of, durations_that_are_none)
