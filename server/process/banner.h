/* What a server says when it runs. */
#ifndef PROCESS_BANNER_H
#define PROCESS_BANNER_H

#include "process/sockets.h"

/* Name, root, threads, what is served (of the worker; may be empty), and "Listening on http://HOST:PORT", a
   line for each URL with the port at its end. An address that means "everywhere" is shown as localhost and as
   the machine's own. Caller frees. */
char *banner_text(const struct settings *settings, const struct sockets *sockets, const char *serving);

#endif
