/* GET /api/tests/template?name=Ann: a page made of template.html, which lies beside this file. */
#include <cloudgate.h>

static cg_counter *views;

static int init(void)
{
    views = cg_counter_open("demo/template");
    return views ? 0 : -1;
}

static void page(cg_event *event)
{
    const char *name = cg_query(event, "name");
    const char *count = cg_sprintf(event, "%lld", (long long)cg_counter_add(views, 1));
    /* Whatever the caller put into name is escaped on its way into the page. */
    cg_field values[] = {
        {cg_string("name"), cg_string(name && *name ? name : "World")},
        {cg_string("views"), cg_string(count)},
        {cg_string("time"), cg_string(cg_time_text(event, cg_now_ms()))},
    };
    cg_reply_template(event, 200, "tests/template.html", values, sizeof values / sizeof *values);
}

CG_MODULE(.init = init, .get = page);
