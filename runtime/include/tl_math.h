/* tl_math.h -- what a kernel calls: arithmetic on tiles; tl.h includes it. */
#ifndef TL_MATH_H
#define TL_MATH_H
#include "tl.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* -- elementwise (commands) ----------------------------------------------------------------- */

/*
 * On tensors in the TCM, broadcast by numpy's rules, and scalars; at least one is a tensor. All
 * are of one type, and so is the result, except of comparisons and tl_isnan() (bool) and
 * tl_cast(). tl_where() takes a bool condition first.
 *
 * tl_and(), tl_or(), tl_xor() and tl_not() take integers, bit by bit, and bool. Shifts by the width
 * or more give 0, to the right of a negative integer -1; by less than 0 they give 0. tl_mod() has
 * the sign of x, by 0 it is 0. tl_round() takes ties to even.
 *
 * time    FETCH of all operands as stored, ceil(elements/lanes) cycles of pe_math, times
 *         special_cycles for div, mod, pow, exp, exp2, log, log2, sqrt, rsqrt, sin, cos, tanh,
 *         sigmoid, erf; STORE
 * errors  shapes that do not broadcast, types that differ or that the operation does not take (exp
 *         to erf, pow and fma take floats), an operand not waited for, TCM exhausted
 */
#define tl_add(tl, x, y)        tl_math_at(TL_HERE, TL_ADD, tl, x, y, NULL)
#define tl_sub(tl, x, y)        tl_math_at(TL_HERE, TL_SUB, tl, x, y, NULL)
#define tl_mul(tl, x, y)        tl_math_at(TL_HERE, TL_MUL, tl, x, y, NULL)
#define tl_div(tl, x, y)        tl_math_at(TL_HERE, TL_DIV, tl, x, y, NULL)
#define tl_neg(tl, x)           tl_math_at(TL_HERE, TL_NEG, tl, x, NULL, NULL)
#define tl_abs(tl, x)           tl_math_at(TL_HERE, TL_ABS, tl, x, NULL, NULL)
#define tl_maximum(tl, x, y)    tl_math_at(TL_HERE, TL_MAXIMUM, tl, x, y, NULL)
#define tl_minimum(tl, x, y)    tl_math_at(TL_HERE, TL_MINIMUM, tl, x, y, NULL)
#define tl_fma(tl, x, y, z)     tl_math_at(TL_HERE, TL_FMA, tl, x, y, z)
#define tl_clamp(tl, x, lo, hi) tl_math_at(TL_HERE, TL_CLAMP, tl, x, lo, hi)
#define tl_where(tl, c, x, y)   tl_math_at(TL_HERE, TL_WHERE, tl, c, x, y)
#define tl_lt(tl, x, y)         tl_math_at(TL_HERE, TL_LT, tl, x, y, NULL)
#define tl_le(tl, x, y)         tl_math_at(TL_HERE, TL_LE, tl, x, y, NULL)
#define tl_gt(tl, x, y)         tl_math_at(TL_HERE, TL_GT, tl, x, y, NULL)
#define tl_ge(tl, x, y)         tl_math_at(TL_HERE, TL_GE, tl, x, y, NULL)
#define tl_eq(tl, x, y)         tl_math_at(TL_HERE, TL_EQ, tl, x, y, NULL)
#define tl_ne(tl, x, y)         tl_math_at(TL_HERE, TL_NE, tl, x, y, NULL)
#define tl_exp(tl, x)           tl_math_at(TL_HERE, TL_EXP, tl, x, NULL, NULL)
#define tl_log(tl, x)           tl_math_at(TL_HERE, TL_LOG, tl, x, NULL, NULL)
#define tl_sqrt(tl, x)          tl_math_at(TL_HERE, TL_SQRT, tl, x, NULL, NULL)
#define tl_rsqrt(tl, x)         tl_math_at(TL_HERE, TL_RSQRT, tl, x, NULL, NULL)
#define tl_tanh(tl, x)          tl_math_at(TL_HERE, TL_TANH, tl, x, NULL, NULL)
#define tl_sigmoid(tl, x)       tl_math_at(TL_HERE, TL_SIGMOID, tl, x, NULL, NULL)
#define tl_erf(tl, x)           tl_math_at(TL_HERE, TL_ERF, tl, x, NULL, NULL)
#define tl_exp2(tl, x)          tl_math_at(TL_HERE, TL_EXP2, tl, x, NULL, NULL)
#define tl_log2(tl, x)          tl_math_at(TL_HERE, TL_LOG2, tl, x, NULL, NULL)
#define tl_sin(tl, x)           tl_math_at(TL_HERE, TL_SIN, tl, x, NULL, NULL)
#define tl_cos(tl, x)           tl_math_at(TL_HERE, TL_COS, tl, x, NULL, NULL)
#define tl_floor(tl, x)         tl_math_at(TL_HERE, TL_FLOOR, tl, x, NULL, NULL)
#define tl_ceil(tl, x)          tl_math_at(TL_HERE, TL_CEIL, tl, x, NULL, NULL)
#define tl_round(tl, x)         tl_math_at(TL_HERE, TL_ROUND, tl, x, NULL, NULL)
#define tl_isnan(tl, x)         tl_math_at(TL_HERE, TL_ISNAN, tl, x, NULL, NULL)
#define tl_and(tl, x, y)        tl_math_at(TL_HERE, TL_AND, tl, x, y, NULL)
#define tl_or(tl, x, y)         tl_math_at(TL_HERE, TL_OR, tl, x, y, NULL)
#define tl_xor(tl, x, y)        tl_math_at(TL_HERE, TL_XOR, tl, x, y, NULL)
#define tl_not(tl, x)           tl_math_at(TL_HERE, TL_NOT, tl, x, NULL, NULL)
#define tl_shl(tl, x, y)        tl_math_at(TL_HERE, TL_SHL, tl, x, y, NULL)
#define tl_shr(tl, x, y)        tl_math_at(TL_HERE, TL_SHR, tl, x, y, NULL)
#define tl_mod(tl, x, y)        tl_math_at(TL_HERE, TL_MOD, tl, x, y, NULL)
#define tl_pow(tl, x, y)        tl_math_at(TL_HERE, TL_POW, tl, x, y, NULL)
tl_tensor *tl_math_at(tl_here here, tl_op op, tl_ctx *tl, tl_tensor *x, tl_tensor *y, tl_tensor *z);

/* Floats to integers truncate and saturate, NaN becomes 0. */
#define tl_cast(tl, x, dtype) tl_cast_at(TL_HERE, tl, x, dtype)
tl_tensor *tl_cast_at(tl_here here, tl_ctx *tl, tl_tensor *x, kb_dtype dtype);

/* -- over an axis (commands) ---------------------------------------------------------------- */

enum { TL_ALL_AXES = -1000 };

/*
 * Over one axis (negative: from the last) or TL_ALL_AXES; the axis goes, or stays with extent 1.
 * The result has the type of `x`, the sum of bools i32; argmax and argmin are i32: the first
 * maximum or minimum, in C order over all axes.
 *
 * time    as elementwise, of the input's elements
 */
#define tl_sum(tl, x, axis, keepdims)    tl_reduce_at(TL_HERE, TL_SUM, tl, x, axis, keepdims)
#define tl_max(tl, x, axis, keepdims)    tl_reduce_at(TL_HERE, TL_MAX, tl, x, axis, keepdims)
#define tl_min(tl, x, axis, keepdims)    tl_reduce_at(TL_HERE, TL_MIN, tl, x, axis, keepdims)
#define tl_mean(tl, x, axis, keepdims)   tl_reduce_at(TL_HERE, TL_MEAN, tl, x, axis, keepdims)
#define tl_argmax(tl, x, axis, keepdims) tl_reduce_at(TL_HERE, TL_ARGMAX, tl, x, axis, keepdims)
#define tl_argmin(tl, x, axis, keepdims) tl_reduce_at(TL_HERE, TL_ARGMIN, tl, x, axis, keepdims)
tl_tensor *tl_reduce_at(tl_here here, tl_op op, tl_ctx *tl, tl_tensor *x, int axis, bool keepdims);

/* exp(x - max) / sum over one axis, of floats; time 3 + 2 * special_cycles per lane. */
#define tl_softmax(tl, x, axis) tl_softmax_at(TL_HERE, tl, x, axis)
tl_tensor *tl_softmax_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis);

/*
 * The k largest of each row, along the last axis, the largest first; of equals the lower index
 * first, NaN before all numbers. Returns the values, and in *indices, which may be NULL, their
 * places in the row, i32.
 *
 * time    FETCH of x, rows * ceil(n / lanes) * ceil(k / topk_width) cycles, STORE of both
 * errors  k below 1 or above n; those of elementwise calls
 */
#define tl_topk(tl, x, k, indices) tl_topk_at(TL_HERE, tl, x, k, indices)
tl_tensor *tl_topk_at(tl_here here, tl_ctx *tl, tl_tensor *x, int64_t k, tl_tensor **indices);

/*
 * All of each row, along the last axis, in order: the largest first if `down`, else the least. NaN
 * is above all numbers, and of equals the lower index comes first in either order. With `indices`
 * as of tl_topk(); both are stored then.
 *
 * time    FETCH of x, rows * ceil(n / lanes) * l * (l + 1) / 2 cycles for l = ceil(log2(n)), STORE
 */
#define tl_sort(tl, x, down, indices) tl_sort_at(TL_HERE, tl, x, down, indices)
tl_tensor *tl_sort_at(tl_here here, tl_ctx *tl, tl_tensor *x, bool down, tl_tensor **indices);

/*
 * Sums from the first to each element along an axis, of the type of x: one chain of sums, of floats
 * in f32, or f64 of f64, and each is rounded; integers wrap.
 *
 * time    FETCH, scan_cycles * ceil(elements / lanes) cycles, STORE
 */
#define tl_cumsum(tl, x, axis) tl_cumsum_at(TL_HERE, tl, x, axis)
tl_tensor *tl_cumsum_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis);

/*
 * Elements of x along an axis by their numbers, as numpy has it: the axis becomes the axes of
 * `index`, which is of integers. What the indices are may be decided by the kernel's own results.
 *
 * time    FETCH of the indices and of the elements that are taken, index_cycles * ceil(elements /
 *         lanes) cycles, of the result, STORE
 * errors  an index that is not in the axis, once the result is computed; an axis too many
 */
#define tl_take(tl, x, index, axis) tl_take_at(TL_HERE, tl, x, index, axis)
tl_tensor *tl_take_at(tl_here here, tl_ctx *tl, tl_tensor *x, tl_tensor *index, int axis);

/*
 * y takes the place of as many elements of x along an axis, from element `first` on: a part of a
 * tensor is replaced where it lies. Returns x, which has its new content from the command's start
 * on; views of x that were made before keep what they saw. The command also waits until nothing
 * that was called before reads x any more.
 *
 * time    FETCH of y, STORE of its bytes; no engine
 * errors  types that differ, shapes that do not fit, a view in place of x
 */
#define tl_update(tl, x, axis, first, y) tl_update_at(TL_HERE, tl, x, axis, first, y)
tl_tensor *tl_update_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis, int64_t first,
                        tl_tensor *y);

/* -- several operations in one command -------------------------------------------------------- */

enum { TL_FUSED_INPUTS = 8, TL_FUSED_STEPS = 16, TL_FUSED_RESULTS = 4 };

/* An operand of a step: an input, or the result of a step before. */
#define TL_IN(i)   ((int8_t)((i) + 1))
#define TL_STEP(i) ((int8_t)(-1 - (i)))

typedef struct tl_step {
    tl_op op; /* TL_GEMM, 0: no more steps */
    int8_t x, y, z;
    kb_dtype out; /* its result is stored as a tensor of this type; KB_DEFAULT: it is not */
} tl_step;

typedef struct tl_fused_args {
    tl_tensor *in[TL_FUSED_INPUTS]; /* floats in the TCM, and scalars */
    tl_step step[TL_FUSED_STEPS];
    tl_tensor **result[TL_FUSED_RESULTS]; /* where handles go, in the order of steps with `out` */
} tl_fused_args;

/*
 * A chain of operations whose results stay in the engine:
 *
 *     tl_fused(tl, .in = {x, tl_scalar(tl, 0.125)},
 *              .step = {{TL_MUL, TL_IN(0), TL_IN(1)},
 *                       {TL_MAX, TL_STEP(0), .out = KB_F32},
 *                       {TL_SUB, TL_STEP(0), TL_STEP(1)},
 *                       {TL_EXP, TL_STEP(2), .out = KB_F16},
 *                       {TL_SUM, TL_STEP(3), .out = KB_F32}},
 *              .result = {&max, &p, &sum});
 *
 * Steps are elementwise operations of floats, comparisons (1 or 0), where (its condition is what is
 * not 0), cast (to the type `out`), and sum, max, min and mean over the last axis, which stays with
 * extent 1. Shapes broadcast. Each step is computed and rounded in f32, with an input of f64 in
 * f64, and rounded to the type `out` as it is stored: what the commands one by one give on copies
 * of the inputs in f32.
 *
 * time    FETCH of each tensor once, the cycles of all steps, one STORE of all results
 * errors  no step, or no result; more or fewer results than steps with `out`; an operand that is
 *         not there, or too many; integers; other operations; shapes that do not broadcast
 */
#ifdef __cplusplus
#define tl_fused(tl, ...) tl_fused_at(TL_HERE, tl, tl_fused_args{__VA_ARGS__})
#else
#define tl_fused(tl, ...) tl_fused_at(TL_HERE, tl, (tl_fused_args){__VA_ARGS__})
#endif
void tl_fused_at(tl_here here, tl_ctx *tl, tl_fused_args args);

/* -- shapes and constants (commands) -------------------------------------------------------- */

/* The last two axes change places. */
#define tl_transpose(tl, x) tl_transpose_at(TL_HERE, tl, x)
tl_tensor *tl_transpose_at(tl_here here, tl_ctx *tl, tl_tensor *x);

/* start, start + step, ...; n of them. */
#define tl_arange(tl, dtype, n, start, step) tl_arange_at(TL_HERE, tl, dtype, n, start, step)
tl_tensor *tl_arange_at(tl_here here, tl_ctx *tl, kb_dtype dtype, int64_t n, double start,
                        double step);

#define tl_full(tl, dtype, shape, value) tl_full_at(TL_HERE, tl, dtype, shape, value)
tl_tensor *tl_full_at(tl_here here, tl_ctx *tl, kb_dtype dtype, kb_shape shape, double value);

/*
 * Random numbers, the same on any machine: element i, in C order, is the first word of Philox
 * 4x32-10 of the counter offset + i and the key `seed`. u32: the word; f32, f16, bf16: its upper
 * 24, 11 or 8 bits as a number from 0 to below 1.
 *
 * time    random_cycles * ceil(elements / lanes) cycles, STORE
 * errors  another type
 */
#define tl_random(tl, dtype, shape, seed, offset)                                                  \
    tl_random_at(TL_HERE, tl, dtype, shape, seed, offset)
tl_tensor *tl_random_at(tl_here here, tl_ctx *tl, kb_dtype dtype, kb_shape shape, uint64_t seed,
                        uint64_t offset);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
