/* gemm_tiles.h -- a tile of a product: the innermost loops, chosen by what the processor can do. */
#ifndef GEMM_TILES_H
#define GEMM_TILES_H
#include "kernbench.h"

/*
 * One tile: c[i * rs + j * cs] = sum over k of x[k * mr + i] * y[k * nr + j], added to c if `add`;
 * i < m <= mr, j < n <= nr. `x_next` and `y_next` are the panels that are probably next.
 */
struct tile {
    int64_t m, n, k;
    const void *x, *y, *x_next, *y_next;
    bool add;
    void *c;
    int64_t rs, cs;
};

/* How tiles are computed on this processor. */
struct kernel {
    void (*run)(const struct tile *t);
    uint16_t mr, nr;  /* widths of panels */
    uint16_t x_block; /* panels of x that stay in the second-level cache, with their block of K */
    bool turned;      /* x is the right operand: registers lie along the rows of C */
};

/* For sums of type `lane`: f32, f64, u32 or u64. */
struct kernel gemm_kernel(kb_dtype lane);

#endif
