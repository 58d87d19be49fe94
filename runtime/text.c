/* text.c -- what the generator and the command line read and write: names, numbers, sizes. */
#include "text.h"
#include <string.h>

enum { WORD_MAX = 63 }; /* longer words are nobody's typing mistake */

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance; both words are at most WORD_MAX bytes long. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[3][WORD_MAX + 1];
    size_t *before = row[0], *above = row[1], *here = row[2];

    for (size_t j = 0; j <= nb; j++)
        above[j] = j;
    for (size_t i = 1; i <= na; i++) {
        here[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

            here[j] = min2(change, min2(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = min2(here[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = above;
        above = here;
        here = free_row;
    }
    return above[nb];
}

const char *text_nearest(const char *word, size_t len, const char *const names[], size_t n_names)
{
    const char *best = NULL;
    size_t limit = len < 3 ? 1 : len / 3;

    if (len == 0 || len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < n_names; i++) {
        size_t n = strlen(names[i]);
        size_t d = n > WORD_MAX ? WORD_MAX : edits(word, len, names[i], n);

        if (d <= limit && (!best || d < limit)) {
            best = names[i];
            limit = d;
        }
    }
    return best;
}
