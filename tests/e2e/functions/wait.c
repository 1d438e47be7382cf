/* GET ?entered=FILE&until=FILE: makes the first, and answers when there is the second. Says whether the
   server's own variable can be seen. */
#include <cloudgate.h>

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_for_file(cg_event *event)
{
    const char *entered = cg_query(event, "entered"), *until = cg_query(event, "until");
    if (entered != NULL)
        close(open(entered, O_CREAT | O_WRONLY, 0600));
    while (until != NULL && access(until, F_OK) != 0)
        nanosleep(&(struct timespec){0, 5 * 1000 * 1000}, NULL);
    cg_reply(event, 200, "text/plain", getenv("CLOUDGATE_WORKER") ? "visible\n" : "hidden\n");
}

CG_MODULE(.get = wait_for_file);
