#include "config/env.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct reader {
    const char *next, *end;
    int line;
    const char *file;
    struct arena *arena;
    struct problems *problems;
    size_t capacity;
    struct env env;
};

static bool at_end_of_line(const struct reader *reader)
{
    return reader->next == reader->end || *reader->next == '\n';
}

static void skip_blanks(struct reader *reader)
{
    while (!at_end_of_line(reader) && strchr(" \t\r", *reader->next) != NULL)
        reader->next++;
}

static void skip_line(struct reader *reader)
{
    while (!at_end_of_line(reader))
        reader->next++;
    if (reader->next < reader->end) {
        reader->next++;
        reader->line++;
    }
}

static void add(struct reader *reader, cg_str name, const char *value, int line)
{
    struct env *env = &reader->env;
    env->items = arena_extend(reader->arena, env->items, env->count, &reader->capacity, sizeof *env->items);
    env->items[env->count++] = (struct variable){name.ptr, value, line};
}

static cg_str take_name(struct reader *reader)
{
    const char *start = reader->next;
    while (reader->next < reader->end && (isalnum((unsigned char)*reader->next) || *reader->next == '_'))
        reader->next++;
    if (reader->next == start || isdigit((unsigned char)*start))
        return cg_bytes(NULL, 0);
    return arena_copy(reader->arena, start, (size_t)(reader->next - start));
}

/* Ended by the line or by a '#' that a blank precedes. */
static const char *take_plain(struct reader *reader)
{
    const char *start = reader->next, *stop = start;
    for (; !at_end_of_line(reader); reader->next++) {
        bool blank = strchr(" \t\r", *reader->next) != NULL;
        if (*reader->next == '#' && (reader->next[-1] == ' ' || reader->next[-1] == '\t'))
            break;
        if (!blank)
            stop = reader->next + 1;
    }
    return arena_copy(reader->arena, start, (size_t)(stop - start)).ptr;
}

static char unescaped(char c)
{
    static const char from[] = "nrt\\\"$", to[] = "\n\r\t\\\"$";
    const char *at = c != '\0' ? strchr(from, c) : NULL;
    return at != NULL ? to[at - from] : '\0';
}

/* At the opening quote; NULL when there is no closing one. */
static const char *take_quoted(struct reader *reader)
{
    char quote = *reader->next++;
    const char *stop = reader->next;
    while (stop < reader->end && *stop != quote)
        stop += quote == '"' && *stop == '\\' && reader->end - stop > 1 ? 2 : 1;
    if (stop >= reader->end)
        return NULL;
    char *value = arena_alloc(reader->arena, (size_t)(stop - reader->next) + 1), *out = value;
    while (reader->next < stop) {
        char c = *reader->next++;
        if (c == '\n')
            reader->line++;
        char real = quote == '"' && c == '\\' ? unescaped(*reader->next) : '\0';
        if (real != '\0')
            reader->next++;
        *out++ = real != '\0' ? real : c;
    }
    *out = '\0';
    reader->next++;
    return value;
}

/* What is wrong with the line; NULL: nothing. */
static const char *take_line(struct reader *reader)
{
    int line = reader->line;
    if (reader->end - reader->next > 7 && memcmp(reader->next, "export", 6) == 0 &&
        strchr(" \t", reader->next[6]) != NULL) {
        reader->next += 7;
        skip_blanks(reader);
    }
    cg_str name = take_name(reader);
    skip_blanks(reader);
    if (at_end_of_line(reader) || *reader->next != '=')
        return name.ptr != NULL ? "a name without '='"
                                : "no valid name at its start (letters, digits and '_')";
    if (name.ptr == NULL)
        return "no valid name before '=' (letters, digits and '_')";
    reader->next++;
    skip_blanks(reader);
    if (at_end_of_line(reader) || strchr("'\"", *reader->next) == NULL) {
        add(reader, name, take_plain(reader), line);
        return NULL;
    }
    const char *value = take_quoted(reader);
    if (value == NULL)
        return "a quote that is not closed";
    skip_blanks(reader);
    if (!at_end_of_line(reader) && *reader->next != '#')
        return "something behind the closing quote";
    add(reader, name, value, line);
    return NULL;
}

void env_parse(const char *text, size_t len, const char *file, struct arena *arena, struct problems *problems,
               struct env *ret_env)
{
    struct reader reader = {
        .next = text, .end = text + len, .line = 1, .file = file, .arena = arena, .problems = problems};
    const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
    if (nul != NULL) {
        for (const char *p = text; p < nul; p++)
            reader.line += *p == '\n';
        problems_add(problems, "%s:%d: a NUL byte", file, reader.line);
        return;
    }
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader.next += 3;
    while (reader.next < reader.end) {
        skip_blanks(&reader);
        if (!at_end_of_line(&reader) && *reader.next != '#') {
            int line = reader.line;
            const char *wrong = take_line(&reader);
            if (wrong != NULL)
                problems_add(problems, "%s:%d: %s", file, line, wrong);
        }
        skip_line(&reader);
    }
    *ret_env = reader.env;
}

const struct variable *env_find(const struct env *env, const char *name)
{
    for (size_t i = env->count; i-- > 0;)
        if (strcmp(env->items[i].name, name) == 0)
            return env->items[i].value[0] != '\0' ? &env->items[i] : NULL;
    return NULL;
}
