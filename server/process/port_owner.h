/* Who listens on a port that we could not have. */
#ifndef PROCESS_PORT_OWNER_H
#define PROCESS_PORT_OWNER_H

#include "process/address.h"

/* In words: "'node' (pid 812)", "this server itself", or "another process" when the kernel does not let us
   see it (another user's process, another container's). Caller frees. */
char *port_owner(const struct address *address);

#endif
