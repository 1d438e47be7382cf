#include "base/log.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

static int out[2];

static void capture(void)
{
    ck_assert_int_eq(pipe(out), 0);
    ck_assert_int_eq(dup2(out[1], STDERR_FILENO), STDERR_FILENO);
    close(out[1]);
}

static const char *captured(void)
{
    static char text[16384];
    close(STDERR_FILENO);
    ssize_t len = read(out[0], text, sizeof text - 1);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

START_TEST(case_107_nothing_a_client_sends_makes_a_second_line)
{
    capture();
    log_error("path %s", "/x\n127.0.0.1 - forged\x1b[31m\x7f");
    const char *text = captured();
    ck_assert_ptr_nonnull(strstr(text, " error path /x\\x0a127.0.0.1 - forged\\x1b[31m\\x7f\n"));
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

START_TEST(a_long_line_is_cut_and_still_ends)
{
    static char text[20000];
    capture();
    memset(text, '\n', sizeof text - 1);
    log_warning("%s", text);
    const char *line = captured();
    ck_assert_uint_le(strlen(line), 4096);
    ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
}
END_TEST

START_TEST(levels_below_are_silent)
{
    capture();
    log_debug("not this");
    log_set_level(CG_DEBUG);
    log_debug("but this");
    log_set_level(CG_ERROR);
    log_warning("nor this");
    const char *text = captured();
    ck_assert_ptr_null(strstr(text, "not this"));
    ck_assert_ptr_nonnull(strstr(text, "debug but this"));
    ck_assert_ptr_null(strstr(text, "nor this"));
}
END_TEST

START_TEST(what_happens_all_the_time_is_told_now_and_then)
{
    int64_t told = 0;
    ck_assert(log_is_due(&told, 5));
    ck_assert(!log_is_due(&told, 5));
    ck_assert(!log_is_due(&told, 4 + LOG_PAUSE_MS));
    ck_assert(log_is_due(&told, 5 + LOG_PAUSE_MS));
    ck_assert(!log_is_due(&told, 6 + LOG_PAUSE_MS));
}
END_TEST

SUITE_MAIN("log", case_107_nothing_a_client_sends_makes_a_second_line, a_long_line_is_cut_and_still_ends,
           levels_below_are_silent, what_happens_all_the_time_is_told_now_and_then)
