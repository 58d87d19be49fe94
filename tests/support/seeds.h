/* seeds.h -- which seeds a test by chance runs: KB_SEEDS=N runs 1..N, KB_SEEDS=M-N those from M to
 * N.
 */
#ifndef SEEDS_H
#define SEEDS_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct seeds {
    uint64_t first, last;
};

/* One in `of` of them; `n` are those of a run without KB_SEEDS. */
static inline struct seeds seeds_of(uint64_t n, uint64_t of)
{
    const char *text = getenv("KB_SEEDS"), *dash = text ? strchr(text, '-') : NULL;
    uint64_t first = dash ? strtoull(text, NULL, 10) : 1;
    uint64_t last = text ? strtoull(dash ? dash + 1 : text, NULL, 10) : n;

    return (struct seeds){(first - 1) / of + 1, last / of};
}

static inline uint64_t seeds_count(struct seeds s)
{
    return s.last + 1 - s.first;
}

#endif
