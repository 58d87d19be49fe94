/* math.c -- the arithmetic of PE_MATH: transpositions, constants, and by index.
 *
 * Everything is computed in chunks of 256 elements. A chunk of each operand is gathered, if its
 * elements are not contiguous, and converted to the type of the computation: f32 for f16 and bf16,
 * else the type itself. Simple loops compute it, which the compiler turns into vector instructions,
 * and the result is rounded once. Buffers of a chunk are on the stack and stay in the first-level
 * cache.
 *
 * Broadcasting gives operands a stride of 0 along an axis. Axes that are contiguous in all operands
 * are joined first (join_axes()), so that the inner loops are long: x[32, 64] + y[1, 64] is 32 runs
 * of 64 elements, and x[32, 64] + y[32, 64] one of 2048.
 *
 * Invariants:
 *   - An element of a result depends on its operands alone, and not on where its chunk begins, on
 *     the layout of the operands, or on the processor's vectors: no sum is split over lanes except
 *     in the eight fixed ones of chunk_sum_...().
 *   - Nothing is allocated, so nothing here can fail.
 *   - Results are rounded to nearest even, once, from the type of the computation. Special
 *     functions of f32 go through f64, so that their error is little more than half a unit in the
 *     last place.
 *
 * reference.c computes the same in another way, to verify it; the two share no arithmetic.
 */
#include "phase2/math_op.h"
#include <math.h>
#include <string.h>
#include "data/cast.h"
#include "data/dtype.h"
#include "data/sum_sources.h"
#include "phase2/math_parts.h"

/* -- shapes and constants ------------------------------------------------------------------- */

/*
 * Transposes blocks of 16 x 16 elements, which stay cached in both matrices: one of the two is
 * walked across its rows, so each of its elements is on another cache line, and all 16 elements of
 * that line are used before it is displaced.
 */
enum { BLOCK = 16 };

static void transpose(void *to, const void *from, size_t rows, size_t columns, size_t bytes)
{
#define TRANSPOSE(T)                                                                               \
    for (size_t i0 = 0; i0 < rows; i0 += BLOCK)                                                    \
        for (size_t j0 = 0; j0 < columns; j0 += BLOCK)                                             \
            for (size_t j = j0; j < columns && j < j0 + BLOCK; j++)                                \
                for (size_t i = i0; i < rows && i < i0 + BLOCK; i++)                               \
                    ((T *)to)[j * rows + i] = ((const T *)from)[i * columns + j];
    BY_SIZE(bytes, TRANSPOSE)
}

static void run_transpose(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];
    size_t bytes = kb_dtype_bytes((kb_dtype)t->dtype), columns, rows, matrix;
    uint64_t all = dims_elements(&t->shape) * bytes;

    columns = t->shape.dim[t->shape.rank - 1];
    rows = t->shape.dim[t->shape.rank - 2];
    matrix = rows * columns * bytes;
    for (uint64_t at = 0; at < all; at += matrix)
        transpose(out + at, t->view.v->bytes + t->view.offset + at, rows, columns, bytes);
}

/* arange(start, step) and full(value): the numbers are scalar operands. */
static double step_of(const struct op *op)
{
    switch ((enum tl_op)op->math) {
    case TL_ARANGE:
        return op->in[1].scalar;
    case TL_FULL:
        return -0.0; /* -0.0 and any number of these is -0.0, where 0.0 would make it 0.0 */
    case TL_RANDOM:
    CASES_ELEMENT:
    CASES_COMPARE:
    CASES_REDUCE:
    CASES_WHOLE:
        break;
    }
    return NAN;
}

static void run_steps(const struct op *op, unsigned char *out)
{
    double start = op->in[0].scalar, step = step_of(op);
    uint64_t n = dims_elements(&op->out.shape);
    kb_dtype to = (kb_dtype)op->out.dtype;
    double x[CHUNK];
    size_t chunk;

    for (uint64_t i = 0; i < n; i += chunk) {
        chunk = math_at_most(n - i, CHUNK);
        for (size_t j = 0; j < chunk; j++)
            x[j] = start + (double)(i + j) * step;
        cast_elements(to, out + i * kb_dtype_bytes(to), KB_F64, x, chunk);
    }
}

/* -- by index ------------------------------------------------------------------------------- */

static int64_t index_at(const struct op_tensor *t, uint64_t i)
{
    kb_dtype dtype = (kb_dtype)t->dtype;
    int64_t index;

    cast_elements(KB_I64, &index, dtype,
                  t->view.v->bytes + t->view.offset + i * kb_dtype_bytes(dtype), 1);
    return index;
}

bool math_index_is_off(const struct op *op, int64_t *index, uint64_t *place)
{
    uint64_t n = dims_elements(&op->in[1].shape), most = op->in[0].shape.dim[op->axis];

    for (*place = 0; *place < n; ++*place) {
        *index = index_at(&op->in[1], *place);
        if (*index < 0 || (uint64_t)*index >= most)
            return true;
    }
    return false;
}

/* Elements behind the axis go together. */
static void run_take(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    uint64_t run = l.inner * kb_dtype_bytes((kb_dtype)op->out.dtype);
    uint64_t n = dims_elements(&op->in[1].shape);
    const unsigned char *x = op->in[0].view.v->bytes + op->in[0].view.offset;

    for (uint64_t outer = 0; outer < l.outer; outer++)
        for (uint64_t i = 0; i < n; i++, out += run)
            memcpy(out, x + (outer * l.n + (uint64_t)index_at(&op->in[1], i)) * run, run);
}

/* A copy of x with y from element `first` of the axis on: rows of y one behind the other. */
static void run_update(const struct op *op, unsigned char *out)
{
    struct math_lines l = math_lines(op);
    const struct op_tensor *x = &op->in[0], *y = &op->in[1];
    uint64_t inner = l.inner * kb_dtype_bytes((kb_dtype)x->dtype);
    uint64_t n = y->shape.dim[op->axis] * inner, first = (uint64_t)op->in[2].scalar * inner;
    const unsigned char *from = y->view.v->bytes + y->view.offset;

    memcpy(out, x->view.v->bytes + x->view.offset, l.outer * l.n * inner);
    for (uint64_t i = 0; i < l.outer; i++)
        memcpy(out + i * l.n * inner + first, from + i * n, n);
}

bool math_run(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];

    switch ((enum math_group)math_rows[op->math].group) {
    case MATH_ELEMENT:
    case MATH_COMPARE:
        math_run_elements(op, out);
        break;
    case MATH_CAST:
        if (op_of_acc(op))
            math_run_acc_store(op, out);
        else
            cast_elements((kb_dtype)op->out.dtype, out, (kb_dtype)t->dtype,
                          t->view.v->bytes + t->view.offset, dims_elements(&t->shape));
        break;
    case MATH_REDUCE:
        if (op->sums)
            sum_sources((kb_dtype)t->dtype, t->shape.dim[0], t->shape.dim[1],
                        t->view.v->bytes + t->view.offset, out);
        else
            math_run_reduce(op, out);
        break;
    case MATH_SOFTMAX:
        math_run_softmax(op, out);
        break;
    case MATH_TRANSPOSE:
        run_transpose(op, out);
        break;
    case MATH_SOURCE:
        if (op->math == TL_RANDOM)
            math_run_random(op, out);
        else
            run_steps(op, out);
        break;
    case MATH_SCAN:
        math_run_scan(op, out);
        break;
    case MATH_ORDER:
        return math_run_order(op, out);
    case MATH_TAKE:
        run_take(op, out);
        break;
    case MATH_UPDATE:
        run_update(op, out);
        break;
    case MATH_FUSED:
        return math_run_fused(op, out, math_run);
    }
    return true;
}
