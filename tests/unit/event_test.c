#include "app/event.h"

#include "parse/field.h"
#include "parse/query.h"
#include "suite.h"

#include <string.h>
#include <strings.h>

static struct arena arena;
static struct event event;
static struct match match;

static cg_field headers[3];

static int parse(const char *type, const char *query, const char *body)
{
    event = (struct event){.arena = &arena};
    answer_init(&event.answer, &arena);
    size_t count = 0;
    headers[count++] = (cg_field){cg_string("cookie"), cg_string("sid=first; x=1; sid=second")};
    if (type != NULL)
        headers[count++] = (cg_field){cg_string("content-type"), cg_string(type)};
    event.public.headers = (cg_fields){headers, count};
    event.public.query = cg_string(query);
    event.public.body = cg_string(body);
    if (strncasecmp(type ? type : "", "application/x-www-form", 22) == 0)
        ck_assert_int_eq(query_parse(event.public.body, EVENT_MAX_PAIRS, &arena, &event.public.form), 0);
    return event_parse(&event, &match);
}

START_TEST(case_22_the_first_cookie_and_the_last_parameter)
{
    ck_assert_int_eq(parse(NULL, "a=1&a=2&b=", ""), 0);
    ck_assert_str_eq(fields_first(&event.public.cookies, "sid")->value.ptr, "first");
    ck_assert_str_eq(fields_last(&event.public.query_params, "a")->value.ptr, "2");
    ck_assert_str_eq(event_param(&event, "b").ptr, "");
    ck_assert_ptr_null(event_param(&event, "c").ptr);
    event_finish(&event);
    arena_finish(&arena);
}
END_TEST

START_TEST(header_names_in_any_case)
{
    ck_assert_int_eq(parse("text/plain", "", ""), 0);
    ck_assert_str_eq(event_header(&event, "Content-TYPE"), "text/plain");
    ck_assert_ptr_null(event_header(&event, "content"));
    arena_finish(&arena);
}
END_TEST

START_TEST(a_parameter_is_looked_for_in_path_form_json_and_query)
{
    match = (struct match){.count = 1, .params = {{cg_string("id"), cg_bytes("a%2Fb c/rest", 7)}}};
    ck_assert_int_eq(
        parse("Application/X-WWW-Form-Urlencoded; charset=utf-8", "id=q&f=q&q=q", "id=form&f=form"), 0);
    ck_assert_str_eq(event_param(&event, "id").ptr, "a/b c");
    ck_assert_str_eq(event_param(&event, "f").ptr, "form");
    ck_assert_str_eq(event_param(&event, "q").ptr, "q");
    arena_finish(&arena);
    ck_assert_int_eq(
        parse("application/json", "s=q&n=q&o=q", "{\"s\":\"json\",\"n\":12,\"t\":true,\"o\":{},\"r\":1.5}"),
        0);
    ck_assert_str_eq(event_param(&event, "s").ptr, "json");
    ck_assert_str_eq(event_param(&event, "n").ptr, "12");
    ck_assert_str_eq(event_param(&event, "t").ptr, "true");
    ck_assert_str_eq(event_param(&event, "r").ptr, "1.5");
    ck_assert_str_eq(event_param(&event, "o").ptr, "q");
    event_finish(&event);
    arena_finish(&arena);
}
END_TEST

START_TEST(a_body_that_is_no_json_hurts_only_who_asks_for_json)
{
    ck_assert_int_eq(parse("application/json", "a=q", "{\"a\": 1"), 0);
    ck_assert_str_eq(event_param(&event, "a").ptr, "q");
    ck_assert_int_eq(event.answer.status, 0);
    ck_assert_ptr_null(event_json(&event));
    ck_assert_int_eq(event.answer.status, 400);
    ck_assert_ptr_nonnull(memmem(event.answer.body, event.answer.body_len, "line 1", 6));
    event_finish(&event);
    arena_finish(&arena);
}
END_TEST

SUITE_MAIN("event", case_22_the_first_cookie_and_the_last_parameter, header_names_in_any_case,
           a_parameter_is_looked_for_in_path_form_json_and_query,
           a_body_that_is_no_json_hurts_only_who_asks_for_json)
