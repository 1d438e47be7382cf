/* What the processes do about signals. Being told explicitly, none of it depends on who started them. */
#ifndef PROCESS_SIGNALS_H
#define PROCESS_SIGNALS_H

#include <signal.h>

/* At the start of every process: nothing is ignored because the parent ignored it, nothing blocked. SIGPIPE
   gets an empty handler: a write to a peer that left is an error like others, and programs started by a
   function get the default back. */
void signals_init(void);

/* Supervisor: TERM, INT, HUP, USR1 and CHLD are read from a descriptor from now on (as PID 1 too, where
   signals with default disposition are lost). The descriptor (non-blocking, close-on-exec) or a negative
   errno. */
int signals_open(void);

/* The number of the next signal, or 0. */
int signals_next(int fd);

/* Worker: Ctrl-C and service managers signal all processes of a group, but the supervisor decides, and tells
   its worker; so these do nothing here. */
void signals_leave_to_supervisor(void);

#endif
