/* GET and PUT by handlers of their own; a further handler "show", and the hooks of its life are logged. */
#include <cloudgate.h>

static int init(void)
{
    cg_log(NULL, CG_WARNING, "hook init");
    return 0;
}

static void fini(void)
{
    cg_log(NULL, CG_WARNING, "hook fini");
}

static int thread_init(void)
{
    cg_log(NULL, CG_WARNING, "hook thread_init");
    return 0;
}

static void thread_fini(void)
{
    cg_log(NULL, CG_WARNING, "hook thread_fini");
}

static void get(cg_event *event)
{
    cg_reply(event, 200, "text/plain", "got");
}

static void put(cg_event *event)
{
    cg_reply(event, 200, "text/plain", "put");
}

static void show(cg_event *event)
{
    const char *id = cg_path_param(event, "id");
    cg_reply(event, 200, "text/plain", "shown %s", id ? id : "nothing");
}

CG_HANDLER(show);
CG_MODULE(.init = init, .fini = fini, .thread_init = thread_init, .thread_fini = thread_fini, .get = get,
          .put = put);
