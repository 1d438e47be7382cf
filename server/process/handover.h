/* What a worker inherits, as the text of one environment variable:
   "shm:5,supervisor:6,ssl_port:443,reload:0,tls:7/0,redirect:8/0,…" where 7/0 is descriptor 7 for loop 0. */
#ifndef PROCESS_HANDOVER_H
#define PROCESS_HANDOVER_H

#include "http/worker.h"

#define HANDOVER_VARIABLE "CLOUDGATE_WORKER"

char *handover_text(const struct inheritance *inheritance); /* caller frees */

/* Strict: -EINVAL for anything that handover_text would not have written. The listeners are allocated. */
int handover_parse(const char *text, struct inheritance *ret_inheritance);
void handover_finish(struct inheritance *inheritance); /* frees the listeners, closes nothing */

/* In a process that may be a worker: 1 and the inheritance when the variable is there and true, 0 when it is
   not there, a negative errno when it lies. Functions and their children shall not see any of it: the
   variable is removed, the descriptors become close-on-exec. */
int handover_take(struct inheritance *ret_inheritance);

/* What of the settings the inherited sockets are not made for, as in "PORT is 8080"; NULL: nothing. Caller
   frees. */
char *handover_conflict(const struct inheritance *inheritance, const struct settings *settings);

/* How many loops the listeners are meant for. The worker must run as many, whatever it thinks of the
   machine. */
unsigned handover_loops(const struct inheritance *inheritance);

#endif
