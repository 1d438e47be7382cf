/* Which valid name somebody may have meant. */
#ifndef CONFIG_NEAREST_H
#define CONFIG_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *name; /* the best so far; NULL: none is near enough */
    size_t distance;
};

/* Edits between the words (insert, delete, replace, swap of neighbours), case ignored, '-' and '_' alike.
   Words longer than 63 bytes are far from everything (SIZE_MAX). */
size_t edit_distance(const char *a, const char *b);

/* Takes name for the best when it is nearer to word than those before, and near enough for its length. */
void nearest_try(struct nearest *nearest, const char *word, const char *name);

#endif
