/* The loops of a worker, each on a thread of its own. */
#ifndef HTTP_RUNNERS_H
#define HTTP_RUNNERS_H

#include "http/app.h"
#include "http/tls_identity.h"
#include "http/worker.h"

struct runners;
struct static_table;

/* One loop for each of settings->threads, with its listeners. identity: NULL without TLS. 0, or a negative
   errno and the reason (caller frees). */
int runners_create(const struct app *app, const struct inheritance *inheritance,
                   const struct tls_identity *identity, struct static_table *files,
                   struct runners **ret_runners, char **ret_error);
/* Returns when all of them run, or one can't: then threads may be running that only the end of the process
   stops. Nothing is accepted yet. */
int runners_start(struct runners *runners, char **ret_error);

/* From another thread than the loops'. */
void runners_listen(struct runners *runners); /* once */
void runners_offer_files(struct runners *runners, struct static_table *files);
/* The health check turns red, connections end with their next answer. */
void runners_drain(struct runners *runners);
/* Nothing is accepted any more, what has begun may end. From any thread. */
void runners_leave(struct runners *runners);
/* After that: until nothing is accepted any more. False: not within that time. */
bool runners_await_left(struct runners *runners, int64_t wait_ms);
/* True: all threads have ended. False: some connection or function would not, within that time. */
bool runners_join(struct runners *runners, int64_t wait_ms);

void runners_destroy(struct runners *runners); /* when no thread runs */

#endif
