/* What `cloudgate status` tells. */
#ifndef PROCESS_STATUS_H
#define PROCESS_STATUS_H

#include "process/crew.h"

struct status {
    const char *root;
    int64_t began; /* monotonic ms */
    unsigned reloads;
    char reason[64];                         /* of the last reload, or of the one that is under way */
    char outcome[GENERATION_TEXT_SIZE + 16]; /* of the last one: "ok: ...\n" or "failed: ...\n" */
};

void status_note_outcome(struct status *status, const char *word, const char *what);
/* Begins with "ok"; caller frees. */
char *status_text(const struct status *status, const struct crew *crew);

#endif
