/* gaps.h -- the gaps between the ranges of a TCM that are taken: the lowest one that fits. */
#ifndef GAPS_H
#define GAPS_H
#include "kernels/tensor.h"
#include "kernels/unit.h"

enum { GAP_SHELVES = 64 };

/* Gaps by where they begin: each shelf is a part of the TCM, with its gaps by offset. */
struct gaps {
    uint64_t filled; /* a bit for each shelf that has a gap */
    uint32_t shift;  /* an offset over 2^shift is its shelf */
    struct gap_shelf {
        struct tcm_block *first; /* NULL: none */
        uint64_t most;           /* bytes of its largest gap, at most */
    } shelf[GAP_SHELVES];
};

KERNELS_OWN void gaps_begin(struct gaps *g, uint64_t tcm_bytes);

/* The gap behind `b` begins, or has grown. There is a range behind it. */
KERNELS_OWN void gap_put(struct gaps *g, struct tcm_block *b);
/* It ends, if there is one. */
KERNELS_OWN void gap_take(struct gaps *g, struct tcm_block *b);

/* The range before the lowest gap of at least `nbytes`; NULL: there is none. */
KERNELS_OWN struct tcm_block *gaps_first(struct gaps *g, uint64_t nbytes);

#endif
