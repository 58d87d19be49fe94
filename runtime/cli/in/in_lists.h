/* in_lists.h -- lists of numbers as options take them: "1,2,4", "1:16", "64:1M:x2", "0.1:1.0:0.1".
 */
#ifndef LISTS_H
#define LISTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of numbers in a list, and how they are kept. All are above 0. */
enum list_kind {
    LIST_COUNTS, /* digits */
    LIST_SIZES,  /* digits, then K, M or G if wanted: bytes */
    LIST_RATES,  /* a decimal with at most six decimals: in millionths */
};

enum { LIST_MAX = 4000000, LIST_WHY_BYTES = 160 };

struct list {
    uint64_t *value; /* owned */
    size_t n;
};

/*
 * Reads items with commas between them. An item is a number, FIRST:LAST and FIRST:LAST:STEP, which
 * add, or FIRST:LAST:xFACTOR, which multiplies; LAST belongs to it if it is hit. Of rates a range
 * needs a step. Give back with list_free(), also after a failure.
 *
 * returns  false with the reason in `why`
 */
bool list_read(struct list *list, enum list_kind kind, const char *text, char why[LIST_WHY_BYTES]);
void list_free(struct list *list);

/* The double nearest to a rate as it was written. */
double list_rate(uint64_t millionths);

#endif
