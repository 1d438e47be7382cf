/* The segment of shared memory, as the settings want it. */
#ifndef PROCESS_SEGMENT_H
#define PROCESS_SEGMENT_H

#include "config/settings.h"

struct shm;

/* 0, or a negative errno, which is logged. */
int segment_open(const struct settings *settings, struct shm **ret_shm);

#endif
