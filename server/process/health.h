/* Whether the server that these settings describe is well, asked from the outside: for HEALTHCHECK of an
   image. */
#ifndef PROCESS_HEALTH_H
#define PROCESS_HEALTH_H

#include "config/settings.h"

/* 0: GET /healthz was answered 200 or, with ssl, the TLS port accepts connections. A negative errno
   otherwise, -EBADMSG for another answer. */
int health_check(const struct settings *settings);

#endif
