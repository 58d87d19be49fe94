/* tl_product.c -- products of matrices, and composites.
 *
 * tl_dot() takes operands in the own TCM, tl_composite() takes them from any memory and works in
 * tiles; both share the rules for shapes and types: set_product(). A product of f16 is accumulated
 * in f32, one of integers in the type of the result, which is i32 for operands of 8 or 16 bits.
 *
 * Example, dot of [32, 64] x [64, 32] in f16 on cube8: 39 ns, 3 to the issue, 16 for the FETCH of
 * 8192 bytes, 2 * 4 * 2 = 16 cycles of GEMM, 4 for the STORE of 2048 bytes. As a composite on
 * operands in the own slice it would be one token: two DMA_READs before the FETCH and a DMA_WRITE
 * behind the STORE.
 *
 * A composite is asynchronous, and its result is a place (`out`), not a tensor in the TCM: its
 * tiles are written as they come. An epilogue's operands are the only tensors of it that lie in
 * the TCM. At most one of two may be a tensor, because a tile's part of it is fetched once, by one
 * FETCH.
 */
#include "kernels/tl_call.h"
#include <string.h>

static bool is_float(kb_dtype d)
{
    return d <= KB_F64; /* it is not KB_DEFAULT */
}

/* Sets the types of a product; those that the options leave out follow from its operands. */
static void set_product_types(const struct call *call, struct command *c, kb_dtype in,
                              const tl_dot_options *o, kb_dtype *out)
{
    bool narrow = dtype_bytes(in) <= 2 && !is_float(in);
    kb_dtype acc;

    *out = o->dtype_out ? o->dtype_out : narrow ? KB_I32 : in;
    acc = o->dtype_acc ? o->dtype_acc : !is_float(in) ? *out : in == KB_F64 ? KB_F64 : KB_F32;
    if (in == KB_BOOL)
        BAD(call, "a product of bool is not defined");
    if (!dtype_bytes(*out) || !dtype_bytes(acc))
        BAD(call, "dtype_acc or dtype_out is not a dtype");
    if (is_float(in) != is_float(*out) || *out == KB_BOOL)
        BAD(call, "a product of %s cannot be %s", kb_dtype_name(in), kb_dtype_name(*out));
    if (acc != (!is_float(in) ? *out : in == KB_F64 ? KB_F64 : KB_F32))
        BAD(call, "%s is accumulated in %s, not in %s", kb_dtype_name(in),
            kb_dtype_name(!is_float(in)  ? *out
                          : in == KB_F64 ? KB_F64
                                         : KB_F32),
            kb_dtype_name(acc));
    c->op.dtype_acc = (uint8_t)acc;
}

/* Sets operands and options of a product. Returns its shape, and its type in *out. */
static struct dims set_product(const struct call *call, struct command *c, struct tl_tensor *a,
                               struct tl_tensor *b, const tl_dot_options *o, kb_dtype *out)
{
    struct op *op = &c->op;
    const struct dims *x = &a->shape, *y = &b->shape;

    if (a->kind == TENSOR_SCALAR || b->kind == TENSOR_SCALAR || x->rank != 2 || y->rank != 2)
        BAD(call, "the operands of a product are matrices");
    if (a->dtype != b->dtype)
        BAD(call, "operands of %s and %s", tensor_dtype(a), tensor_dtype(b));
    op->m = x->dim[o->transpose_a ? 1 : 0];
    op->k = x->dim[o->transpose_a ? 0 : 1];
    op->n = y->dim[o->transpose_b ? 0 : 1];
    if (op->k != y->dim[o->transpose_b ? 1 : 0])
        BAD(call, "shapes %s%s and %s%s do not fit", shape_text(x).text,
            o->transpose_a ? " transposed" : "", shape_text(y).text,
            o->transpose_b ? " transposed" : "");
    set_product_types(call, c, (kb_dtype)a->dtype, o, out);
    op->transpose_a = o->transpose_a;
    op->transpose_b = o->transpose_b;
    op->col_a = o->layout_a == TL_COL_MAJOR;
    op->col_b = o->layout_b == TL_COL_MAJOR;
    op->col_out = o->layout_out == TL_COL_MAJOR;
    add_operand(c, a);
    add_operand(c, b);
    return (struct dims){.rank = 2, .dim = {op->m, op->n}};
}

tl_tensor *tl_dot_at(tl_here here, tl_ctx *tl, tl_tensor *a, tl_tensor *b, tl_dot_options options)
{
    struct call call = begin_call(tl, "tl_dot", here);
    struct command *c = new_command(&call, OP_GEMM);
    struct dims shape;
    kb_dtype out;

    check_operand(&call, a);
    check_operand(&call, b);
    shape = set_product(&call, c, a, b, &options, &out);
    set_result(&call, c, out, &shape);
    return do_command(c);
}

/* -- epilogues -------------------------------------------------------------------------------- */

/* `d` may be broadcast to `to`. */
static bool broadcasts_to(const struct dims *d, const struct dims *to)
{
    if (d->rank > to->rank)
        return false;
    for (uint32_t i = 0; i < d->rank; i++) {
        uint32_t n = d->dim[d->rank - 1 - i];

        if (n != 1 && n != to->dim[to->rank - 1 - i])
            return false;
    }
    return true;
}

static void add_epilogue_operand(const struct call *call, struct command *c, struct op_epilogue *e,
                                 struct tl_tensor *y, const struct dims *shape)
{
    check_operand(call, y);
    if (y->kind != TENSOR_SCALAR) {
        if (y->dtype != c->op.in[0].dtype && y->dtype != c->op.dtype_acc)
            BAD(call, "an epilogue's operand is %s, not %s", tensor_dtype(y),
                kb_dtype_name((kb_dtype)c->op.in[0].dtype));
        if (!broadcasts_to(&y->shape, shape))
            BAD(call, "an epilogue's operand %s does not broadcast to %s",
                shape_text(&y->shape).text, shape_text(shape).text);
    }
    set_tensor(&e->operand[e->n_operands], y);
    if (y->kind == TENSOR_SCALAR)
        e->operand[e->n_operands].dtype = c->op.dtype_acc;
    e->n_operands++;
    c->operand[c->n_operands++] = y->kind == TENSOR_SCALAR ? NULL : y;
}

static void add_epilogue(const struct call *call, struct command *c, const tl_epilogue *step,
                         const struct dims *shape)
{
    struct op_epilogue *e = &c->op.epilogue[c->op.n_epilogues++];
    const struct math_row *row;
    struct tl_tensor *const operands[2] = {step->y, step->z};

    if (math_group(step->op) != MATH_ELEMENT || step->op == TL_WHERE)
        BAD(call, "an epilogue is an elementwise operation that keeps the type");
    row = &math_rows[step->op];
    check_types(call, step->op, (kb_dtype)c->op.dtype_acc);
    *e = (struct op_epilogue){.math = (uint8_t)step->op};
    for (uint32_t i = 0; i + 1 < row->operands; i++) {
        if (!operands[i])
            BAD(call, "epilogue %s takes %u operands besides the accumulator", row->name,
                row->operands - 1u);
        add_epilogue_operand(call, c, e, operands[i], shape);
    }
    if (e->n_operands == 2 && !e->operand[0].is_scalar && !e->operand[1].is_scalar)
        BAD(call, "epilogue %s has two tensors; one is read with a tile", row->name);
}

/* -- composites ------------------------------------------------------------------------------- */

static void set_gemm(const struct call *call, struct command *c, const tl_composite_args *args,
                     struct dims *shape, kb_dtype *out)
{
    check_waited(call, args->a);
    check_waited(call, args->b);
    *shape = set_product(call, c, args->a, args->b, &args->dot, out);
    for (int i = 0; i < TL_EPILOGUES_MAX && args->epilogue[i].op; i++)
        add_epilogue(call, c, &args->epilogue[i], shape);
}

/*
 * Rows and columns of a tensor seen as a matrix: all axes but the last are rows. A composite of
 * math on [2, 3, 100] is cut into tiles as 6 rows of 100 columns.
 */
static void set_matrix(const struct call *call, struct op *op, const struct dims *d)
{
    uint64_t rows = 1;

    for (uint32_t i = 0; i + 1 < d->rank; i++)
        rows *= d->dim[i];
    if (rows > UINT32_MAX)
        BAD(call, "shape %s has more than %u rows", shape_text(d).text, UINT32_MAX);
    op->m = (uint32_t)rows;
    op->n = d->rank ? d->dim[d->rank - 1] : 1;
    op->k = 1;
}

static bool same_shape(const struct dims *a, const struct dims *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
}

static void set_composite_math(const struct call *call, struct command *c,
                               const tl_composite_args *args, struct dims *shape, kb_dtype *out)
{
    struct tl_tensor *const x[3] = {args->a, args->b, args->c};
    const struct math_row *row;
    bool found = false;

    if (!math_is_elementwise(args->op))
        BAD(call, "a composite is a GEMM or an elementwise operation");
    row = &math_rows[args->op];
    for (uint32_t i = 0; i < row->operands; i++) {
        check_waited(call, x[i]);
        if (x[i]->kind == TENSOR_SCALAR)
            continue;
        if (found && !same_shape(&x[i]->shape, shape))
            BAD(call, "operands of shapes %s and %s: those of a composite are equal",
                shape_text(shape).text, shape_text(&x[i]->shape).text);
        *shape = x[i]->shape;
        found = true;
    }
    if (args->op == TL_WHERE)
        check_condition(call, x[0]);
    *out = common_type(call, args->op, x, row->operands);
    add_operands(c, x, row->operands, *out);
    if (row->group == MATH_COMPARE)
        *out = KB_BOOL;
    c->op.math = (uint8_t)args->op;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    set_matrix(call, &c->op, shape);
    if (args->epilogue[0].op)
        BAD(call, "only a GEMM has epilogues");
}

tl_tensor *tl_composite_at(tl_here here, tl_ctx *tl, tl_composite_args args)
{
    struct call call = begin_call(tl, "tl_composite", here);
    struct command *c = new_command(&call, args.op == TL_GEMM ? OP_GEMM : OP_MATH);
    struct dims shape = {0};
    kb_dtype out;

    c->op.composite = true;
    c->async = true;
    if (args.op == TL_GEMM)
        set_gemm(&call, c, &args, &shape, &out);
    else
        set_composite_math(&call, c, &args, &shape, &out);
    c->dst = check_range(&call, args.out, result_bytes(&call, out, &shape), dtype_bytes(out));
    set_place(&call, c, out, &shape, args.out);
    set_tensor(&c->op.out, c->result);
    return do_command(c);
}
