/* tl_math.c -- arithmetic on tensors: elementwise, over an axis, constants.
 *
 * One row of data/ops.def says of an operation how many operands it takes, of which types, in which
 * group it is and what it costs; the calls here only ask that row. Shapes broadcast as numpy's do:
 * [8, 1] and [4] give [8, 4].
 *
 * An operation has several kinds of results, by its group:
 *
 *     ELEMENT     the shape that its operands broadcast to, their type
 *     COMPARE     the same shape, bool
 *     REDUCE      the shape without the axis, or with 1 in its place (keepdims); argmax: i32
 *     SOFTMAX, CAST, TRANSPOSE   the operand's shape; of another type; with its last axes exchanged
 *     SCAN        the operand's shape
 *     SOURCE      as the call says: tl_arange(), tl_full(), tl_random()
 *     ORDER       two: values and indices, parts of one result, which lie one behind the other;
 *                 of tl_sort() the values alone if indices are not wanted
 *     TAKE        the operand's shape, in which the axes of the index take the place of one
 *     UPDATE      the first operand itself
 *     FUSED       up to four, parts of one result like those of ORDER: kernels/tl_fused.c
 *
 * Results are tensors in the TCM whose bytes are pending: only Phase 2 computes them (math.c). A
 * call takes simulated time all the same, see docs/kernels.md "A PE": exp of [32, 32] in f16 on
 * cube8 takes 75 ns, 3 to the issue, 4 for the FETCH of 2048 bytes, 64 on the engine, 4 for the
 * STORE.
 */
#include "kernels/flight.h"
#include "kernels/tl_call.h"

/* -- elementwise ------------------------------------------------------------------------------ */

/*
 * The shape that operands broadcast to, by numpy's rules: shapes are aligned at their last axes,
 * and along each axis extents are equal or 1. [8, 1] and [4] give [8, 4]; [8, 2] and [4] are a
 * mistake. Scalars take part in none of it.
 */
static struct dims broadcast(const struct call *call, struct tl_tensor *const *x, uint32_t n)
{
    struct dims out = {0};
    uint32_t i = 0;

    while (i < n && x[i]->kind == TENSOR_SCALAR)
        i++;
    if (i < n)
        dims_copy(&out, &x[i]->shape);
    for (i++; i < n; i++)
        if (x[i]->kind != TENSOR_SCALAR && !dims_broadcast(&out, &x[i]->shape))
            BAD(call, "shape %s does not broadcast with the others", shape_text(&x[i]->shape).text);
    return out;
}

/* "tl_add", from the operation. */
static const char *math_call(enum tl_op op)
{
    static const char *const names[N_TL_OPS] = {
#define MATH(NAME, name, ...) [TL_##NAME] = "tl_" #name,
#include "data/ops.def"
    };

    return math_group(op) < 0 ? "tl_math_at" : names[op];
}

static struct command *new_math(const struct call *call, enum tl_op op)
{
    struct command *c = new_command(call, OP_MATH);

    c->op.math = (uint8_t)op;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    return c;
}

tl_tensor *tl_math_at(tl_here here, tl_op op, tl_ctx *tl, tl_tensor *x, tl_tensor *y, tl_tensor *z)
{
    struct call call = begin_call(tl, math_call(op), here);
    struct tl_tensor *const operands[3] = {x, y, z};
    const struct math_row *row;
    struct command *c;
    struct dims shape;
    kb_dtype dtype;

    if (!math_is_elementwise(op))
        BAD(&call, "operation %d is not elementwise", (int)op);
    row = &math_rows[op];
    c = new_math(&call, op);
    for (uint32_t i = 0; i < row->operands; i++)
        check_operand(&call, operands[i]);
    if (op == TL_WHERE)
        check_condition(&call, x);
    dtype = common_type(&call, op, operands, row->operands);
    shape = broadcast(&call, operands, row->operands);
    add_operands(c, operands, row->operands, dtype);
    set_result(&call, c, row->group == MATH_COMPARE ? KB_BOOL : dtype, &shape);
    return do_command(c);
}

/* A command with one tensor as its operand. */
static struct command *math_of_one(const struct call *call, enum tl_op op, struct tl_tensor *tensor)
{
    struct command *c = new_math(call, op);

    check_operand(call, tensor);
    if (tensor->kind == TENSOR_SCALAR)
        BAD(call, "%s needs a tensor", math_rows[op].name);
    check_types(call, op, (kb_dtype)tensor->dtype);
    add_operand(c, tensor);
    return c;
}

tl_tensor *tl_cast_at(tl_here here, tl_ctx *tl, tl_tensor *x, kb_dtype dtype)
{
    struct call call = begin_call(tl, "tl_cast", here);
    struct command *c = math_of_one(&call, TL_CAST, x);

    set_result(&call, c, dtype, &x->shape);
    return do_command(c);
}

/* -- over an axis ----------------------------------------------------------------------------- */

static struct dims reduced(const struct dims *d, bool all, uint32_t axis, bool keepdims)
{
    struct dims out = {0};

    for (uint32_t i = 0; i < d->rank; i++) {
        bool gone = all || i == axis;

        if (gone && !keepdims)
            continue;
        out.dim[out.rank++] = gone ? 1 : d->dim[i];
    }
    return out;
}

static kb_dtype reduced_dtype(enum tl_op op, kb_dtype dtype)
{
    bool counts = op == TL_ARGMAX || op == TL_ARGMIN || (op == TL_SUM && dtype == KB_BOOL);

    return counts ? KB_I32 : dtype;
}

tl_tensor *tl_reduce_at(tl_here here, tl_op op, tl_ctx *tl, tl_tensor *x, int axis, bool keepdims)
{
    struct call call = begin_call(tl, math_call(op), here);
    bool all = axis == TL_ALL_AXES;
    struct command *c;
    struct dims shape;
    uint32_t at;

    if (math_group(op) != MATH_REDUCE)
        BAD(&call, "operation %d does not reduce", (int)op);
    c = math_of_one(&call, op, x);
    at = all ? 0 : check_axis(&call, &x->shape, axis);
    shape = reduced(&x->shape, all, at, keepdims);
    c->op.all_axes = all;
    c->op.has_axis = !all;
    c->op.axis = (int8_t)at;
    c->op.keepdims = keepdims;
    set_result(&call, c, reduced_dtype(op, (kb_dtype)x->dtype), &shape);
    return do_command(c);
}

tl_tensor *tl_softmax_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis)
{
    struct call call = begin_call(tl, "tl_softmax", here);
    struct command *c = math_of_one(&call, TL_SOFTMAX, x);

    c->op.has_axis = true;
    c->op.axis = (int8_t)check_axis(&call, &x->shape, axis);
    set_result(&call, c, (kb_dtype)x->dtype, &x->shape);
    return do_command(c);
}

/* Adds a constant to an operation beside its tensors. */
static void add_constant(struct command *c, kb_dtype dtype, double value)
{
    struct op_tensor *constant = &c->op.in[c->op.n_in++];

    set_tensor(constant, &(struct tl_tensor){.kind = TENSOR_SCALAR, .scalar = value});
    constant->dtype = (uint8_t)dtype;
    c->operand[c->n_operands++] = NULL;
}

/* A result of values and, behind them, indices: each is a view of its own. */
static struct tl_tensor *values_and_indices(const struct call *call, struct command *c,
                                            struct tl_tensor **indices)
{
    uint64_t at = op_indices_at(&c->op.out);
    struct tl_tensor *both, *values;

    c->result->nbytes = at + dims_elements(&c->result->shape) * dtype_bytes(KB_I32);
    both = do_command(c);
    values = tensor_part(call, both, (kb_dtype)both->dtype, &both->shape, 0);
    if (indices)
        *indices = tensor_part(call, both, KB_I32, &both->shape, at);
    tensor_give_back(call, both);
    return values;
}

tl_tensor *tl_topk_at(tl_here here, tl_ctx *tl, tl_tensor *x, int64_t k, tl_tensor **indices)
{
    struct call call = begin_call(tl, "tl_topk", here);
    struct command *c = math_of_one(&call, TL_TOPK, x);
    struct dims shape = x->shape;
    uint32_t last = check_axis(&call, &shape, -1);

    if (k < 1 || k > shape.dim[last])
        BAD(&call, "k is %lld, and a row has %u elements", (long long)k, shape.dim[last]);
    shape.dim[last] = (uint32_t)k;
    c->op.has_axis = true;
    c->op.axis = (int8_t)last;
    set_result(&call, c, (kb_dtype)x->dtype, &shape);
    return values_and_indices(&call, c, indices);
}

tl_tensor *tl_sort_at(tl_here here, tl_ctx *tl, tl_tensor *x, bool down, tl_tensor **indices)
{
    struct call call = begin_call(tl, "tl_sort", here);
    struct command *c = math_of_one(&call, TL_SORT, x);

    c->op.has_axis = true;
    c->op.axis = (int8_t)check_axis(&call, &x->shape, -1);
    add_constant(c, (kb_dtype)x->dtype, down);
    add_constant(c, (kb_dtype)x->dtype, indices != NULL);
    set_result(&call, c, (kb_dtype)x->dtype, &x->shape);
    return indices ? values_and_indices(&call, c, indices) : do_command(c);
}

tl_tensor *tl_cumsum_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis)
{
    struct call call = begin_call(tl, "tl_cumsum", here);
    struct command *c = math_of_one(&call, TL_CUMSUM, x);

    c->op.has_axis = true;
    c->op.axis = (int8_t)check_axis(&call, &x->shape, axis);
    set_result(&call, c, (kb_dtype)x->dtype, &x->shape);
    return do_command(c);
}

/* The axis becomes those of the index. */
static struct dims taken(const struct call *call, const struct dims *x, const struct dims *index,
                         uint32_t axis)
{
    struct dims out = {.rank = x->rank - 1 + index->rank};

    if (out.rank > KB_RANK_MAX)
        BAD(call, "the result of %s by %s has %u axes, more than %d", shape_text(x).text,
            shape_text(index).text, out.rank, KB_RANK_MAX);
    for (uint32_t i = 0; i < out.rank; i++)
        out.dim[i] = i < axis                 ? x->dim[i]
                     : i < axis + index->rank ? index->dim[i - axis]
                                              : x->dim[i - index->rank + 1];
    return out;
}

tl_tensor *tl_take_at(tl_here here, tl_ctx *tl, tl_tensor *x, tl_tensor *index, int axis)
{
    struct call call = begin_call(tl, "tl_take", here);
    struct command *c = math_of_one(&call, TL_TAKE, x);
    struct dims shape;

    check_operand(&call, index);
    if (index->kind == TENSOR_SCALAR || index->dtype < KB_I8 || index->dtype > KB_U64)
        BAD(&call, "indices are a tensor of integers");
    c->op.has_axis = true;
    c->op.axis = (int8_t)check_axis(&call, &x->shape, axis);
    shape = taken(&call, &x->shape, &index->shape, (uint32_t)c->op.axis);
    add_operand(c, index);
    result_bytes(&call, (kb_dtype)x->dtype, &shape);
    set_result(&call, c, (kb_dtype)x->dtype, &shape);
    return do_command(c);
}

/* Does y fit into x along the axis, from element `first` on? */
static void check_update(const struct call *call, const struct dims *x, uint32_t axis,
                         int64_t first, const struct dims *y)
{
    bool fits = y->rank == x->rank;

    for (uint32_t i = 0; fits && i < x->rank; i++)
        fits = i == axis || y->dim[i] == x->dim[i];
    if (!fits)
        BAD(call, "%s does not fit into %s along axis %u", shape_text(y).text, shape_text(x).text,
            axis);
    if (first < 0 || first > (int64_t)x->dim[axis] - (int64_t)y->dim[axis])
        BAD(call, "elements %lld to %lld are not in axis %u of %s", (long long)first,
            (long long)first + y->dim[axis] - 1, axis, shape_text(x).text);
}

tl_tensor *tl_update_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis, int64_t first,
                        tl_tensor *y)
{
    struct call call = begin_call(tl, "tl_update", here);
    struct command *c = new_math(&call, TL_UPDATE);
    struct tl_tensor *was;

    check_operand(&call, x);
    check_operand(&call, y);
    if (x->kind == TENSOR_SCALAR || y->kind == TENSOR_SCALAR)
        BAD(&call, "update needs tensors");
    if (x->sliced)
        BAD(&call, "x is a view: the tensor that it is a part of would not see what is written");
    check_types(&call, TL_UPDATE, (kb_dtype)x->dtype);
    if (x->dtype != y->dtype)
        BAD(&call, "operands of %s and %s", tensor_dtype(x), tensor_dtype(y));
    c->op.has_axis = true;
    c->op.axis = (int8_t)check_axis(&call, &x->shape, axis);
    check_update(&call, &x->shape, (uint32_t)c->op.axis, first, &y->shape);
    was = flight_leave_past(tl, x);
    if (!was)
        call_no_memory(&call);
    add_operand(c, was);
    add_operand(c, y == x ? was : y);
    add_constant(c, (kb_dtype)x->dtype, (double)first);
    flight_give_back(tl->kernels, was);
    was->users++; /* until flight_overwrite() */
    c->result = x;
    set_tensor(&c->op.out, x);
    return do_command(c);
}

/* -- shapes and constants --------------------------------------------------------------------- */

tl_tensor *tl_transpose_at(tl_here here, tl_ctx *tl, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_transpose", here);
    struct command *c = math_of_one(&call, TL_TRANSPOSE, x);
    struct dims shape = x->shape;

    if (shape.rank < 2)
        BAD(&call, "shape %s has no two axes", shape_text(&shape).text);
    shape.dim[shape.rank - 1] = x->shape.dim[shape.rank - 2];
    shape.dim[shape.rank - 2] = x->shape.dim[shape.rank - 1];
    set_result(&call, c, (kb_dtype)x->dtype, &shape);
    return do_command(c);
}

tl_tensor *tl_arange_at(tl_here here, tl_ctx *tl, kb_dtype dtype, int64_t n, double start,
                        double step)
{
    struct call call = begin_call(tl, "tl_arange", here);
    struct command *c = new_math(&call, TL_ARANGE);
    kb_shape shape = {.rank = 1, .dim = {n}};
    struct dims d;

    check_shape(&call, &shape, &d);
    check_dtype(&call, dtype);
    check_types(&call, TL_ARANGE, dtype);
    add_constant(c, dtype, start);
    add_constant(c, dtype, step);
    set_result(&call, c, dtype, &d);
    return do_command(c);
}

tl_tensor *tl_full_at(tl_here here, tl_ctx *tl, kb_dtype dtype, kb_shape shape, double value)
{
    struct call call = begin_call(tl, "tl_full", here);
    struct command *c = new_math(&call, TL_FULL);
    struct dims d;

    check_shape(&call, &shape, &d);
    check_dtype(&call, dtype);
    check_types(&call, TL_FULL, dtype);
    add_constant(c, dtype, value);
    set_result(&call, c, dtype, &d);
    return do_command(c);
}

tl_tensor *tl_random_at(tl_here here, tl_ctx *tl, kb_dtype dtype, kb_shape shape, uint64_t seed,
                        uint64_t offset)
{
    struct call call = begin_call(tl, "tl_random", here);
    struct command *c = new_math(&call, TL_RANDOM);
    struct dims d;

    check_shape(&call, &shape, &d);
    check_dtype(&call, dtype);
    if (dtype != KB_U32 && dtype != KB_F32 && dtype != KB_F16 && dtype != KB_BF16)
        BAD(&call, "random numbers are of u32, f32, f16 or bf16, not %s", kb_dtype_name(dtype));
    if (offset >> 53)
        BAD(&call, "the offset is %llu, not below 2^53", (unsigned long long)offset);
    add_constant(c, dtype, (double)(uint32_t)seed);
    add_constant(c, dtype, (double)(seed >> 32));
    add_constant(c, dtype, (double)offset);
    set_result(&call, c, dtype, &d);
    return do_command(c);
}
