#include "config/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX 63

static int folded(char c)
{
    return c == '-' ? '_' : tolower((unsigned char)c);
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Optimal string alignment, three rows of its matrix at a time. */
size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1], a_len = strlen(a), b_len = strlen(b);
    if (a_len > WORD_MAX || b_len > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            int ca = folded(a[i - 1]), cb = folded(b[j - 1]);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == folded(b[j - 2]) && folded(a[i - 2]) == cb)
                row[j] = smallest(row[j], row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void nearest_try(struct nearest *nearest, const char *word, const char *name)
{
    size_t len = strlen(word), limit = len <= 3 ? 1 : len <= 6 ? 2 : 3;
    size_t distance = edit_distance(word, name);
    if (distance > limit || (nearest->name != NULL && distance >= nearest->distance))
        return;
    nearest->name = name;
    nearest->distance = distance;
}
