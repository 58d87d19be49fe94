/* text.h -- what the generator and the command line read and write: names, numbers, sizes. */
#ifndef TEXT_H
#define TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The one of `names` that `word` (`len` bytes) was probably meant to be: fewest edits
 * (insert, delete, change, swap neighbours), at most a third of the word; ties to the first.
 * NULL if none is that near.
 */
const char *text_nearest(const char *word, size_t len, const char *const names[], size_t n_names);

#endif
