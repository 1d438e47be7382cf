/* ANY, with "x-look: query NAME" (or form, cookie, header, path, param) -> "[value]" or "absent". */
#include <cloudgate.h>

static const char *look(cg_event *event, const char *kind, const char *name)
{
    if (strcmp(kind, "query") == 0)
        return cg_query(event, name);
    if (strcmp(kind, "form") == 0)
        return cg_form(event, name);
    if (strcmp(kind, "cookie") == 0)
        return cg_cookie(event, name);
    if (strcmp(kind, "header") == 0)
        return cg_header(event, name);
    if (strcmp(kind, "path") == 0)
        return cg_path_param(event, name);
    return cg_param(event, name);
}

static void answer(cg_event *event)
{
    const char *what = cg_header(event, "X-Look");
    char *kind = cg_strdup(event, what ? what : "param ");
    char *blank = strchr(kind, ' ');
    if (blank != NULL)
        *blank = '\0';
    const char *value = look(event, kind, blank ? blank + 1 : "");
    if (value == NULL)
        cg_reply(event, 200, "text/plain", "absent");
    else
        cg_reply(event, 200, "text/plain", "[%s]", value);
}

CG_MODULE(.handle = answer);
