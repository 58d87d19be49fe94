/* all_reduce.h -- the algorithms of an all-reduce, and the argument that chooses one. */
#ifndef ALL_REDUCE_H
#define ALL_REDUCE_H
#include "collective_bench.h"

enum algorithm { AUTO, RING, HALVING, MESH, TORUS, HIERARCHICAL };

#define ALGORITHM_ARG                                                                              \
    {                                                                                              \
        "algorithm", KB_ARG_CHOICE, "auto", 0, 0, "auto ring halving mesh torus hierarchical",     \
            "how it is done; auto: the fastest, by trying"                                         \
    }

static inline void all_reduce_by(tl_ctx *tl, enum algorithm algorithm, enum over over,
                                 struct vector x, struct vector y, tl_op op)
{
    struct grid grid = grid_of(tl, over);

    switch (algorithm) {
    case AUTO:
    case RING:
        all_reduce_ring(tl, ranks_over(tl, over), x, y, op);
        break;
    case HALVING:
        all_reduce_halving(tl, ranks_over(tl, over), x, y, op);
        break;
    case MESH:
        all_reduce_mesh(tl, &grid, x, y, op);
        break;
    case TORUS:
        all_reduce_torus(tl, &grid, x, y, op);
        break;
    case HIERARCHICAL:
        all_reduce_hierarchical(tl, &grid, x, y, op);
        break;
    }
}

#endif
