/* How many files a process may have open. */
#ifndef PROCESS_DESCRIPTORS_H
#define PROCESS_DESCRIPTORS_H

/* A descriptor for each connection: the usual soft limit is far below what the machine grants. Says what it
   has come to. */
void descriptors_raise_limit(void);

#endif
