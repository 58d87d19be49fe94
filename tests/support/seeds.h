/* seeds.h -- which seeds a test by chance runs: KB_SEEDS=N runs 1..N, KB_SEEDS=M-N those from M to
 * N. Without it KB_PART=few runs the first two fifths of its own, and KB_PART=rest the others.
 */
#ifndef SEEDS_H
#define SEEDS_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct seeds {
    uint64_t first, last;
};

static inline struct seeds seeds_asked(const char *text)
{
    const char *dash = strchr(text, '-');

    return (struct seeds){dash ? strtoull(text, NULL, 10) : 1,
                          strtoull(dash ? dash + 1 : text, NULL, 10)};
}

/* Of the seeds 1..n those of a part of the tests: make check has few, make check-slow the rest. */
static inline struct seeds seeds_part(const char *part, uint64_t n)
{
    uint64_t few = n * 2 / 5;

    return strcmp(part, "few") == 0 ? (struct seeds){1, few} : (struct seeds){few + 1, n};
}

/* One in `of` of them; `n` are those of a run without KB_SEEDS. */
static inline struct seeds seeds_of(uint64_t n, uint64_t of)
{
    const char *text = getenv("KB_SEEDS"), *part = getenv("KB_PART");
    struct seeds s = text ? seeds_asked(text) : part ? seeds_part(part, n) : (struct seeds){1, n};

    return (struct seeds){(s.first - 1) / of + 1, s.last / of};
}

static inline uint64_t seeds_count(struct seeds s)
{
    return s.last + 1 - s.first;
}

#endif
