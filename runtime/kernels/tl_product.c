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
 *
 * tl_dot_acc() takes the same operands as tl_dot(), and its result stays in the engine
 * (kernels/acc.c); tl_acc_store() takes the same epilogues as a composite.
 */
#include "data/cast.h"
#include "kernels/acc.h"
#include "kernels/tl_call.h"
#include "pe/boxes.h"
#include <string.h>

/* Sets the types of a product; those that the options leave out follow from its operands. */
static void set_product_types(const struct call *call, struct command *c, kb_dtype in,
                              const tl_dot_options *o, kb_dtype *out)
{
    bool narrow = dtype_bytes(in) <= 2 && !dtype_is_float(in);
    kb_dtype acc;

    *out = o->dtype_out ? o->dtype_out : narrow ? KB_I32 : in;
    acc = o->dtype_acc ? o->dtype_acc : !dtype_is_float(in) ? *out : in == KB_F64 ? KB_F64 : KB_F32;
    if (in == KB_BOOL)
        BAD(call, "a product of bool is not defined");
    if (!dtype_cell(*out) || !dtype_cell(acc))
        BAD(call, "dtype_acc or dtype_out is not a dtype");
    if (dtype_is_float(in) != dtype_is_float(*out) || *out == KB_BOOL || *out == KB_I4)
        BAD(call, "a product of %s cannot be %s", kb_dtype_name(in), kb_dtype_name(*out));
    if (acc != (!dtype_is_float(in) ? *out : in == KB_F64 ? KB_F64 : KB_F32))
        BAD(call, "%s is accumulated in %s, not in %s", kb_dtype_name(in),
            kb_dtype_name(!dtype_is_float(in) ? *out
                          : in == KB_F64      ? KB_F64
                                              : KB_F32),
            kb_dtype_name(acc));
    c->op.dtype_acc = (uint8_t)acc;
}

/* The wider type of its operands. */
static kb_dtype product_dtype(const struct call *call, const struct tl_tensor *a,
                              const struct tl_tensor *b)
{
    if (a->kind == TENSOR_SCALAR || b->kind == TENSOR_SCALAR)
        BAD(call, "the operands of a product are matrices");
    return check_pair(call, (kb_dtype)a->dtype, (kb_dtype)b->dtype, true);
}

/* Has one operand three axes? Then there is a product for each index of the first. */
static bool is_batch(const struct call *call, const struct tl_tensor *a, const struct tl_tensor *b,
                     const tl_dot_options *o)
{
    bool batch = a->shape.rank == 3 || b->shape.rank == 3;

    if (batch && (o->layout_a || o->layout_b || o->layout_out))
        BAD(call, "a batch of products is row-major");
    return batch;
}

/*
 * Operand `i` of a product lies in lines of so many elements, and a composite takes a tile of it at
 * a time (`cut`): of i4 both are whole bytes.
 */
static void check_lines(const struct call *call, const struct op *op, uint32_t i,
                        const uint32_t *tile, bool cut)
{
    bool turned = i ? op->transpose_b != op->col_b : op->transpose_a != op->col_a;
    uint32_t line = turned == (i == 1) ? op->k : i ? op->n : op->m;
    uint32_t part = turned == (i == 1) ? tile[1] : i ? tile[2] : tile[0];

    if (op->in[i].dtype != KB_I4)
        return;
    if (line % 2)
        BAD(call, "an operand of i4 lies in lines of %u elements, which is odd", line);
    if (cut && part < line && part % 2)
        BAD(call, "an operand of i4 is cut into tiles of %u elements, which is odd: %s", part,
            "cube.pe.pe_scheduler.tile");
}

/*
 * Sets operands and options of a product, whose operands have `axes` at most. Returns its shape,
 * and its type in *out. An operand of two axes is that of all products of a batch: [4, 32, 64] and
 * [64, 16] give [4, 32, 16].
 */
static struct dims set_product(const struct call *call, struct command *c, struct tl_tensor *a,
                               struct tl_tensor *b, const tl_dot_options *o, uint32_t axes,
                               kb_dtype *out)
{
    struct op *op = &c->op;
    kb_dtype in = product_dtype(call, a, b);
    const uint32_t *x, *y;
    bool fits;

    if (a->shape.rank < 2 || b->shape.rank < 2 || a->shape.rank > axes || b->shape.rank > axes)
        BAD(call, "the operands of a product are matrices");
    x = &a->shape.dim[a->shape.rank - 2];
    y = &b->shape.dim[b->shape.rank - 2];
    op->m = x[o->transpose_a ? 1 : 0];
    op->k = x[o->transpose_a ? 0 : 1];
    op->n = y[o->transpose_b ? 0 : 1];
    fits = op->k == y[o->transpose_b ? 1 : 0] &&
           (a->shape.rank < 3 || b->shape.rank < 3 || a->shape.dim[0] == b->shape.dim[0]);
    if (!fits)
        BAD(call, "shapes %s%s and %s%s do not fit", shape_text(&a->shape).text,
            o->transpose_a ? " transposed" : "", shape_text(&b->shape).text,
            o->transpose_b ? " transposed" : "");
    set_product_types(call, c, in, o, out);
    op->transpose_a = o->transpose_a;
    op->transpose_b = o->transpose_b;
    op->col_a = o->layout_a == TL_COL_MAJOR;
    op->col_b = o->layout_b == TL_COL_MAJOR;
    op->col_out = o->layout_out == TL_COL_MAJOR;
    add_operand(c, a);
    add_operand(c, b);
    for (uint32_t i = 0; i < 2; i++)
        check_lines(call, op, i, pe_kind(call->pe)->pe.tile, op->composite);
    if (is_batch(call, a, b, o))
        return (struct dims){3, {(a->shape.rank == 3 ? a : b)->shape.dim[0], op->m, op->n}};
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
    shape = set_product(&call, c, a, b, &options, 3, &out);
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

/* What epilogues follow: a product of that shape, of operands of type `in`. */
struct before_epilogues {
    const struct dims *shape;
    uint8_t in;
};

static void add_epilogue_operand(const struct call *call, struct command *c, struct op_epilogue *e,
                                 struct tl_tensor *y, const struct before_epilogues *before)
{
    const struct dims *shape = before->shape;

    check_operand(call, y);
    check_together(call, y);
    if (y->kind != TENSOR_SCALAR) {
        if (y->dtype == KB_I4)
            BAD(call, "an epilogue does not take i4: tl_cast() it first");
        if (y->dtype != before->in && y->dtype != c->op.dtype_acc &&
            !fetch_converts(call, (kb_dtype)c->op.dtype_acc, (kb_dtype)y->dtype))
            BAD(call, "an epilogue's operand is %s, not %s", tensor_dtype(y),
                kb_dtype_name((kb_dtype)before->in));
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
                         const struct before_epilogues *before)
{
    struct op_epilogue *e = &c->op.epilogue[c->op.n_epilogues++];
    const struct math_row *row;
    struct tl_tensor *const operands[2] = {step->y, step->z};

    *e = (struct op_epilogue){.math = (uint8_t)step->op};
    if (math_group(step->op) != MATH_ELEMENT || step->op == TL_WHERE)
        BAD(call, "an epilogue is an elementwise operation that keeps the type");
    row = &math_rows[step->op];
    check_types(call, step->op, (kb_dtype)c->op.dtype_acc);
    for (uint32_t i = 0; i + 1 < row->operands; i++) {
        if (!operands[i])
            BAD(call, "epilogue %s takes %u operands besides the accumulator", row->name,
                row->operands - 1u);
        add_epilogue_operand(call, c, e, operands[i], before);
    }
    if (e->n_operands == 2 && !e->operand[0].is_scalar && !e->operand[1].is_scalar)
        BAD(call, "epilogue %s has two tensors; one is read with a tile", row->name);
}

static void add_epilogues(const struct call *call, struct command *c,
                          const tl_epilogue steps[TL_EPILOGUES_MAX], const struct dims *shape,
                          uint8_t in)
{
    const struct before_epilogues before = {shape, in};

    for (int i = 0; i < TL_EPILOGUES_MAX && steps[i].op; i++)
        add_epilogue(call, c, &steps[i], &before);
}

/* -- composites ------------------------------------------------------------------------------- */

static void set_gemm(const struct call *call, struct command *c, const tl_composite_args *args,
                     struct dims *shape, kb_dtype *out)
{
    check_waited(call, args->a);
    check_waited(call, args->b);
    check_together(call, args->a);
    check_together(call, args->b);
    *shape = set_product(call, c, args->a, args->b, &args->dot, 2, out);
    add_epilogues(call, c, args->epilogue, shape, (uint8_t)op_operands_dtype(&c->op));
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
        check_together(call, x[i]);
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
    struct command *c = new_whole_command(&call, args.op == TL_GEMM ? OP_GEMM : OP_MATH);
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

/* -- accumulators --------------------------------------------------------------------------- */

static void wait_for_acc_room(const struct call *call, uint64_t nbytes)
{
    struct tl_ctx *pe = call->pe;
    uint64_t room = pe_kind(pe)->pe.acc_bytes;

    while (!acc_has_room(pe, nbytes)) {
        if (!pe->acc_stores)
            BAD(call,
                "accumulators are exhausted: %llu bytes are needed, and %llu of the %llu of "
                "pe_gemm are free",
                (unsigned long long)nbytes, (unsigned long long)(room - pe->acc_bytes),
                (unsigned long long)room);
        kernel_wait_for_room(pe);
    }
}

tl_acc *tl_acc_new_at(tl_here here, tl_ctx *tl, kb_dtype dtype, int64_t m, int64_t n)
{
    struct call call = begin_call(tl, "tl_acc_new", here);
    kb_shape shape = KB_SHAPE(m, n);
    struct tl_acc *acc;
    struct dims d;

    check_dtype(&call, dtype);
    check_shape(&call, &shape, &d);
    if (dtype != KB_F32 && dtype != KB_F64 && dtype != KB_I32 && dtype != KB_I64)
        BAD(&call, "an accumulator is f32, f64, i32 or i64, not %s", kb_dtype_name(dtype));
    wait_for_acc_room(&call, result_bytes(&call, dtype, &d));
    acc = acc_new(tl, result_bytes(&call, dtype, &d));
    if (!acc)
        call_no_memory(&call);
    acc->dtype = (uint8_t)dtype;
    acc->shape = d;
    return acc;
}

/* May a command of an accumulator be called? `sets`: it may be the first. */
static void check_acc(const struct call *call, const struct tl_acc *acc, bool sets)
{
    if (!acc)
        BAD(call, "an accumulator is NULL");
    if (!acc->pe || acc->stored)
        BAD(call, "an accumulator was stored before");
    if (acc->pe != call->pe)
        BAD(call, "an accumulator belongs to another PE");
    if (!acc->dtype_in && !sets)
        BAD(call, "an accumulator is used before a product has set it");
}

static struct command *of_acc(struct command *c, struct tl_acc *acc)
{
    c->task = TASK_ACC;
    c->acc = acc;
    return c;
}

/* The accumulator as operand `n_in` of its command. */
static void add_acc(struct command *c)
{
    acc_operand(c->acc, &c->op.in[c->op.n_in++]);
    c->operand[c->n_operands++] = NULL;
}

/* The options of a product that an accumulator gets. */
static tl_dot_options acc_options(const struct call *call, const struct tl_acc *acc,
                                  const tl_dot_options *o, kb_dtype in)
{
    kb_dtype to = (kb_dtype)acc->dtype;
    tl_dot_options out = *o;

    if ((o->dtype_out && o->dtype_out != to) || (o->dtype_acc && o->dtype_acc != to))
        BAD(call, "dtype_acc and dtype_out of a product are those of its accumulator, %s",
            kb_dtype_name(to));
    if (o->layout_out == TL_COL_MAJOR)
        BAD(call, "an accumulator is row-major");
    if (!dtype_is_float(in) && in != KB_BOOL && dtype_bytes(in) > dtype_bytes(to))
        BAD(call, "a product of %s cannot be %s", kb_dtype_name(in), kb_dtype_name(to));
    out.dtype_out = to;
    out.dtype_acc = KB_DEFAULT;
    return out;
}

void tl_dot_acc_at(tl_here here, tl_ctx *tl, tl_acc *acc, tl_tensor *a, tl_tensor *b,
                   tl_dot_options options)
{
    struct call call = begin_call(tl, "tl_dot_acc", here);
    struct dims shape;
    struct command *c;
    kb_dtype in, out;

    check_acc(&call, acc, true);
    c = of_acc(new_command(&call, OP_GEMM), acc);
    check_operand(&call, a);
    check_operand(&call, b);
    in = product_dtype(&call, a, b);
    options = acc_options(&call, acc, &options, in);
    shape = set_product(&call, c, a, b, &options, 2, &out);
    if (!same_shape(&shape, &acc->shape))
        BAD(&call, "a product %s does not fit an accumulator %s", shape_text(&shape).text,
            shape_text(&acc->shape).text);
    acc_operand(acc, &c->op.out);
    if (acc->dtype_in)
        add_acc(c);
    acc->dtype_in = (uint8_t)in;
    do_command(c);
}

void tl_acc_scale_at(tl_here here, tl_ctx *tl, tl_acc *acc, tl_tensor *v)
{
    struct call call = begin_call(tl, "tl_acc_scale", here);
    struct command *c;

    check_acc(&call, acc, false);
    c = of_acc(new_command(&call, OP_MATH), acc);
    check_operand(&call, v);
    if (v->kind != TENSOR_SCALAR && v->dtype != acc->dtype &&
        (v->dtype != acc->dtype_in || v->dtype == KB_I4) &&
        !fetch_converts(&call, (kb_dtype)acc->dtype, (kb_dtype)v->dtype))
        BAD(&call, "an accumulator of %s, of products of %s, is scaled by %s",
            kb_dtype_name((kb_dtype)acc->dtype), kb_dtype_name((kb_dtype)acc->dtype_in),
            tensor_dtype(v));
    if (v->kind != TENSOR_SCALAR && !broadcasts_to(&v->shape, &acc->shape))
        BAD(&call, "%s does not broadcast to an accumulator %s", shape_text(&v->shape).text,
            shape_text(&acc->shape).text);
    c->op.math = TL_MUL;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    add_acc(c);
    add_operand(c, v);
    if (v->kind == TENSOR_SCALAR)
        c->op.in[1].dtype = acc->dtype;
    acc_operand(acc, &c->op.out);
    do_command(c);
}

tl_tensor *tl_acc_store_at(tl_here here, tl_ctx *tl, tl_acc *acc, kb_dtype dtype,
                           tl_epilogues epilogues)
{
    struct call call = begin_call(tl, "tl_acc_store", here);
    struct command *c;

    check_acc(&call, acc, false);
    c = of_acc(new_whole_command(&call, OP_MATH), acc);
    check_dtype(&call, dtype);
    if (dtype_is_float((kb_dtype)acc->dtype) != dtype_is_float(dtype) || dtype == KB_BOOL ||
        dtype == KB_I4)
        BAD(&call, "an accumulator of %s cannot be %s", kb_dtype_name((kb_dtype)acc->dtype),
            kb_dtype_name(dtype));
    c->op.math = TL_CAST;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    c->op.composite = true;
    c->op.dtype_acc = acc->dtype;
    c->op.col_out = false;
    add_acc(c);
    add_epilogues(&call, c, epilogues.step, &acc->shape, acc->dtype_in);
    set_result(&call, c, dtype, &acc->shape);
    acc->stored = true;
    return do_command(c);
}
