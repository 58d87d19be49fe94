/* math_op.h -- the arithmetic of PE_MATH: struct op of kind OP_MATH, and steps of epilogues. */
#ifndef MATH_OP_H
#define MATH_OP_H
#include "data/op.h"

/* docs/kernels.md "Phase 2 in numbers" says how results are rounded. */

/* Elements at equal distances, or one number for all. */
struct math_lane {
    const unsigned char *at; /* NULL: `scalar`, rounded to `dtype` */
    int64_t stride;          /* elements; 0: the same for all */
    kb_dtype dtype;
    double scalar;
};

/*
 * out[i] = math(in[0][i], in[1][i], in[2][i]) for an elementwise operation or a comparison;
 * computed in `dtype`, rounded to `out_dtype`. `out` may be one of the operands.
 */
void math_elements(enum tl_op math, kb_dtype dtype, const struct math_lane in[3],
                   kb_dtype out_dtype, void *out, size_t n);

/* Computes the operation into `out`, all bytes of its result. Operands have bytes. */
void math_run(const struct op *op, unsigned char *out);

/* Strides of a tensor along the axes of the shape that it is broadcast to, in elements. */
void math_strides(const struct dims *shape, const struct dims *to, int64_t stride[KB_RANK_MAX]);

/* The lines of a reduction: n elements each, `inner` apart; `inner` lines are interleaved. */
struct math_lines {
    uint64_t outer, n, inner;
};
struct math_lines math_lines(const struct op *op);

#endif
