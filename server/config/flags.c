#include "config/flags.h"

#include "config/keys.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct line {
    struct draft *draft;
    int argc, next;
    char *const *argv;
    const char *base, *dir;
};

static const char *copied(struct line *line, const char *text, size_t len)
{
    return arena_copy(&line->draft->settings->arena, text, len).ptr;
}

static void take_dir(struct line *line, const char *dir)
{
    if (line->dir != NULL)
        problems_add(&line->draft->problems, "%.200s: a second folder, after %.200s", dir, line->dir);
    else if (dir[0] == '\0')
        problems_add(&line->draft->problems, "an empty argument where a folder is expected");
    else
        line->dir = dir;
}

/* Behind the '=' or in the next argument; NULL, and told, when there is none. */
static const char *value_of(struct line *line, const char *flag, const char *behind)
{
    if (behind != NULL)
        return behind;
    if (line->next < line->argc)
        return line->argv[line->next++];
    problems_add(&line->draft->problems, "%s: no value behind it", flag);
    return NULL;
}

static void take_flag(struct line *line, const char *arg)
{
    const char *equals = strchr(arg, '='), *behind = equals != NULL ? equals + 1 : NULL;
    const char *flag = copied(line, arg, equals != NULL ? (size_t)(equals - arg) : strlen(arg));
    bool is_long = flag[1] == '-', is_letter = !is_long && strlen(flag) == 2;
    const char *name = flag + (is_long ? 2 : 1), *text;
    const struct option *option = is_long ? option_of_flag(name) : is_letter ? option_of_letter(*name) : NULL;
    if ((is_long && strcasecmp(name, "rootfolder") == 0) || strcmp(flag, "-r") == 0) {
        if ((text = value_of(line, flag, behind)) != NULL)
            take_dir(line, text);
        return;
    }
    if (option == NULL) {
        key_complain_flag(line->draft, flag, name);
        return;
    }
    text = option->kind == OPTION_BOOL && behind == NULL ? "1" : value_of(line, flag, behind);
    if (text != NULL)
        draft_offer(line->draft, LAYER_FLAG, option, text, line->base, flag, flag);
}

void flags_parse(struct draft *draft, int argc, char *const argv[], const char *base, const char **ret_dir)
{
    struct line line = {.draft = draft, .argc = argc, .argv = argv, .base = base};
    bool flags = true;
    while (line.next < argc) {
        const char *arg = argv[line.next++];
        if (flags && strcmp(arg, "--") == 0)
            flags = false;
        else if (flags && arg[0] == '-' && arg[1] != '\0')
            take_flag(&line, arg);
        else
            take_dir(&line, arg);
    }
    *ret_dir = line.dir;
}
