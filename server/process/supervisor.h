/* The supervisor: one thread that owns the listening sockets, the shared-memory segment and the signals, and
   keeps one worker running. Safe as PID 1. */
#ifndef PROCESS_SUPERVISOR_H
#define PROCESS_SUPERVISOR_H

#include "config/settings.h"

/* Runs until TERM or INT. argv as main had it: the worker is this binary with the same arguments. Says on
   stdout what it serves once that is true. Returns the exit status: 0 after a stop, 1 when it could not
   start. */
int supervisor_run(char *const argv[], const struct settings *settings);

#endif
