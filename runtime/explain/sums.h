/* sums.h -- sums of pieces of time, by what a breakdown asks for. */
#ifndef SUMS_H
#define SUMS_H
#include "kernbench.h"
#include "engine/station.h"

/*
 * The subject of a sum is a place; of an operation, a kernel or a call it is the number of a text
 * (sums_text()). Four words, which are compared as such: with the sum a line of the cache.
 */
struct key {
    union {
        struct {
            uint64_t line : 32, file : 23, by : 4, cause : 5; /* line, file: of a call */
        };
        uint64_t what;
    };
    uint64_t of;
    kb_place place, behind;
};

struct sum {
    _Alignas(64) struct key key;
    uint64_t count; /* 0: a free row */
    wait_sum fs;
};

/* Sums by key: an open table, its size a power of two. */
struct table {
    struct sum *row; /* owned */
    size_t n, cap;
};

/* A text that has been seen at an address, and the number of the first one that says the same. */
struct text_at {
    const char *at;
    uint32_t number;
};

struct sums {
    struct table table;
    struct text_at *texts; /* owned */
    uint32_t n_texts;
    kb_status status; /* KB_OK, or why a sum was lost */
};

/* Pieces of time of one cause at one place. */
struct term {
    kb_cause cause;
    kb_place place, behind; /* behind: of waits, the source in front */
    uint64_t count;
    wait_sum fs;
};

/* The first mistake counts. */
static inline void sums_fail(struct sums *s, kb_status status)
{
    if (s->status == KB_OK)
        s->status = status;
}

/*
 * The number of a text, from 1, the same for equal ones. There are a few dozen at most: operations
 * of the library, calls and files of kernels.
 */
uint32_t sums_text(struct sums *s, const char *text);

void sums_add(struct sums *s, const struct key *key, uint64_t count, wait_sum fs);

/* Adds all rows of `from`, whose texts have the same numbers. */
void sums_add_all(struct sums *s, const struct sums *from);

/* Adds a piece to the sums of `of`. */
void sums_part(struct sums *s, struct key of, const struct term *piece);

/* And to those of the run, and of the place. */
void sums_whole(struct sums *s, const struct term *piece);

/* Frees the table. */
void sums_free(struct sums *s);

#endif
