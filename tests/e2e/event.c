#include "event.h"

#include "harness.h"

#include <string.h>

json_t *event_of(const struct answer *answer)
{
    answer_expect(answer, 200);
    return answer_json(answer);
}

/* As the tests write it. */
static const char *text_of(json_t *value)
{
    if (json_is_object(value))
        return text_print("hex:%s", json_string_value(json_object_get(value, "hex")));
    return json_is_string(value) ? json_string_value(value) : "(NULL)";
}

static char *dump(json_t *json)
{
    return json_dumps(json, JSON_COMPACT);
}

void event_expect_fields(json_t *event, const char *list, const char *const fields[])
{
    json_t *have = json_object_get(event, list);
    size_t count = 0;
    for (; fields[2 * count] != NULL; count++) {
        json_t *pair = json_array_get(have, count);
        ck_assert_msg(pair != NULL, "no %s in %s: %s", fields[2 * count], list, dump(have));
        ck_assert_msg(strcmp(text_of(json_array_get(pair, 0)), fields[2 * count]) == 0, "no %s in %s: %s",
                      fields[2 * count], list, dump(have));
        ck_assert_msg(strcmp(text_of(json_array_get(pair, 1)), fields[2 * count + 1]) == 0,
                      "%s is not %s in %s: %s", fields[2 * count], fields[2 * count + 1], list, dump(have));
    }
    ck_assert_msg(json_array_size(have) == count, "more than %zu in %s: %s", count, list, dump(have));
}

void event_expect_field(json_t *event, const char *list, const char *name, const char *value)
{
    size_t i;
    json_t *pair, *have = json_object_get(event, list);
    json_array_foreach(have, i, pair)
    {
        if (strcmp(text_of(json_array_get(pair, 0)), name) != 0)
            continue;
        ck_assert_msg(value != NULL, "%s should not be in %s: %s", name, list, dump(have));
        ck_assert_str_eq(text_of(json_array_get(pair, 1)), value);
        return;
    }
    ck_assert_msg(value == NULL, "no %s in %s: %s", name, list, dump(have));
}

void event_expect_text(json_t *event, const char *member, const char *value)
{
    const char *have = text_of(json_object_get(event, member));
    ck_assert_msg(strcmp(have, value) == 0, "%s is %s instead of %s", member, have, value);
}

static void expect_content(json_t *content, const void *data, size_t len)
{
    ck_assert_msg(json_is_object(content), "%s", dump(content));
    ck_assert_int_eq(json_integer_value(json_object_get(content, "size")), (json_int_t)len);
    ck_assert_str_eq(json_string_value(json_object_get(content, "digest")), bytes_digest(data, len));
}

void event_expect_body(json_t *event, const void *data, size_t len)
{
    expect_content(json_object_get(event, "body"), data, len);
}

void event_expect_file_count(json_t *event, size_t count)
{
    json_t *files = json_object_get(event, "files");
    ck_assert_msg(json_array_size(files) == count, "not %zu files: %s", count, dump(files));
}

void event_expect_file(json_t *event, size_t index, const char *name, const char *filename, const char *type,
                       const void *data, size_t len)
{
    json_t *file = json_array_get(json_object_get(event, "files"), index);
    ck_assert_msg(file != NULL, "no file %zu: %s", index, dump(event));
    ck_assert_str_eq(text_of(json_object_get(file, "name")), name);
    ck_assert_str_eq(text_of(json_object_get(file, "filename")), filename);
    if (type != NULL)
        ck_assert_str_eq(text_of(json_object_get(file, "type")), type);
    expect_content(json_object_get(file, "data"), data, len);
}
