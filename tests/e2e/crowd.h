/* Clients in processes of their own, which ask for the same page request after request, on connections that
   they keep as long as the server does. Each answer has to be a 200. */
#ifndef E2E_CROWD_H
#define E2E_CROWD_H

#include "server.h"

struct crowd;

/* each: requests of a client; 0: until the end. */
struct crowd *crowd_start(const struct server *server, const char *path, int clients, int each);
/* Waits until all have asked what they were to ask; fails the test when one did not get an answer. Frees. */
void crowd_end(struct crowd *crowd);

#endif
