#include "answer.h"

#include "harness.h"

#include <string.h>

/* The nth field line of that name: its value, and in *ret_len its length without the blanks around it. */
static const char *find(const char *head, const char *name, size_t n, size_t *ret_len)
{
    size_t name_len = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, name_len) != 0 || line[name_len] != ':' || n-- > 0)
            continue;
        const char *value = line + name_len + 1;
        const char *end = strstr(value, "\r\n");
        value += strspn(value, " \t");
        while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *ret_len = (size_t)(end - value);
        return value;
    }
    return NULL;
}

char *answer_nth(const struct answer *answer, const char *name, size_t n)
{
    size_t len;
    const char *value = find(answer->head, name, n, &len);
    return value ? strndup(value, len) : NULL;
}

char *answer_field(const struct answer *answer, const char *name)
{
    return answer_nth(answer, name, 0);
}

size_t answer_count(const struct answer *answer, const char *name)
{
    size_t count = 0, len;
    while (find(answer->head, name, count, &len) != NULL)
        count++;
    return count;
}

void answer_expect(const struct answer *answer, int status)
{
    ck_assert_msg(answer->status == status, "status %d instead of %d\n%s\n%.500s", answer->status, status,
                  answer->head, answer->body);
}

void answer_expect_bytes(const struct answer *answer, int status, const void *body, size_t len)
{
    answer_expect(answer, status);
    ck_assert_msg(answer->len == len && memcmp(answer->body, body, len) == 0,
                  "another body of %zu bytes instead of %zu\n%s\n%.500s", answer->len, len, answer->head,
                  answer->body);
}

void answer_expect_text(const struct answer *answer, int status, const char *body)
{
    answer_expect_bytes(answer, status, body, strlen(body));
}

void answer_expect_field(const struct answer *answer, const char *name, const char *value)
{
    const char *have = answer_field(answer, name);
    if (value == NULL)
        ck_assert_msg(have == NULL, "%s is %s, and should not be there\n%s", name, have, answer->head);
    else
        ck_assert_msg(have != NULL && strcmp(have, value) == 0, "%s is %s instead of %s\n%s", name,
                      have ? have : "absent", value, answer->head);
}

json_t *answer_json(const struct answer *answer)
{
    json_error_t error;
    json_t *json = json_loadb(answer->body, answer->len, JSON_ALLOW_NUL, &error);
    ck_assert_msg(json != NULL, "no JSON: %s\n%s\n%.500s", error.text, answer->head, answer->body);
    return json;
}
