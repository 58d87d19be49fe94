/* math_op.h -- the arithmetic of PE_MATH: struct op of kind OP_MATH, and steps of epilogues. */
#ifndef MATH_OP_H
#define MATH_OP_H
#include "data/op.h"

/* docs/kernels.md "Phase 2 in numbers" says how results are rounded. */

/*
 * All operations in groups, for a switch that lists what it does not compute. None has a default:
 * an operation that is new is in no list, and the compiler names each switch that forgets it.
 */
/* clang-format off */
#define CASES_ARITHMETIC case TL_ADD: case TL_SUB: case TL_MUL: case TL_DIV: case TL_NEG: case TL_ABS: case TL_MAXIMUM: case TL_MINIMUM: case TL_CLAMP
#define CASES_OF_FLOATS  case TL_FMA: case TL_SQRT: case TL_FLOOR: case TL_CEIL: case TL_ROUND: case TL_POW
#define CASES_OF_BITS    case TL_AND: case TL_OR: case TL_XOR: case TL_NOT: case TL_SHL: case TL_SHR: case TL_MOD
#define CASES_SPECIAL    case TL_EXP: case TL_LOG: case TL_RSQRT: case TL_TANH: case TL_SIGMOID: case TL_ERF: case TL_EXP2: case TL_LOG2: case TL_SIN: case TL_COS
#define CASES_COMPARE    case TL_LT: case TL_LE: case TL_GT: case TL_GE: case TL_EQ: case TL_NE: case TL_ISNAN
#define CASES_ELEMENT    CASES_ARITHMETIC: CASES_OF_FLOATS: CASES_OF_BITS: CASES_SPECIAL: case TL_WHERE
#define CASES_REDUCE     case TL_SUM: case TL_MAX: case TL_MIN: case TL_MEAN: case TL_ARGMAX: case TL_ARGMIN
#define CASES_SOURCE     case TL_ARANGE: case TL_FULL: case TL_RANDOM
#define CASES_WHOLE      case TL_GEMM: case TL_CAST: case TL_SOFTMAX: case TL_TRANSPOSE: case TL_TOPK: case TL_SORT: case TL_CUMSUM: case TL_TAKE: case TL_FUSED: case TL_UPDATE
/* clang-format on */

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

/* Elements [first, first + n) of row `row`: of the result, or of its transpose if it is
 * column-major. */
struct math_run {
    size_t row, first, n;
};

/* Applies the epilogues of `op` to a run of sums of type `dtype`. */
void math_epilogues(const struct op *op, kb_dtype dtype, unsigned char *sums, struct math_run run);

/* Computes the operation into `out`, all bytes of its result. Operands have bytes. False: no
 * memory.
 */
bool math_run(const struct op *op, unsigned char *out);

/* Of a take: the first index that is not in the axis, and its place; false: all are. */
bool math_index_is_off(const struct op *op, int64_t *index, uint64_t *place);

/* Strides of a tensor along the axes of the shape that it is broadcast to, in elements. */
void math_strides(const struct dims *shape, const struct dims *to, int64_t stride[KB_RANK_MAX]);

/* The lines of a reduction: n elements each, `inner` apart; `inner` lines are interleaved. */
struct math_lines {
    uint64_t outer, n, inner;
};
struct math_lines math_lines(const struct op *op);

#endif
