/* What is wrong with a configuration, collected so that all of it can be told at once. Zeroed is empty. Lines
   are cleaned of control characters, since they quote what a file says. */
#ifndef CONFIG_PROBLEMS_H
#define CONFIG_PROBLEMS_H

#include "base/buffer.h"

#define PROBLEMS_MAX 20 /* that are told; the rest is counted */

struct problems {
    struct buffer text; /* lines, each ended by '\n' */
    int count;
};

void problems_add(struct problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *
problems_detach(struct problems *problems); /* the lines, without the last '\n'; caller frees; empties */
void problems_finish(struct problems *problems);

#endif
