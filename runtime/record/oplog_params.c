/* oplog_params.c -- the parameters of operations, as members of a line of the op log. */
#include "record/oplog_line.h"
#include "data/dtype.h"

/* -- members of params ---------------------------------------------------------------------- */

/* The comma before a member or an element, unless it is the first. */
static void put_comma(struct line *l)
{
    char last = l->n > 0 ? l->text[l->n - 1] : '{';

    if (last != '{' && last != '[')
        oplog_put_char(l, ',');
}

void oplog_put_key(struct line *l, const char *key)
{
    put_comma(l);
    oplog_put_char(l, '"');
    oplog_put_text(l, key);
    oplog_put_text(l, "\":");
}

void oplog_key_count(struct line *l, const char *key, uint64_t value)
{
    oplog_put_key(l, key);
    oplog_put_count(l, value);
}

void oplog_key_ns(struct line *l, const char *key, int64_t fs)
{
    oplog_put_key(l, key);
    oplog_put_ns(l, fs);
}

static void key_bool(struct line *l, const char *key, bool value)
{
    oplog_put_key(l, key);
    oplog_put_text(l, value ? "true" : "false");
}

/* A word in quotes; none of its characters needs an escape. */
static void put_word(struct line *l, const char *word)
{
    oplog_put_char(l, '"');
    oplog_put_text(l, word);
    oplog_put_char(l, '"');
}

void oplog_key_word(struct line *l, const char *key, const char *word)
{
    oplog_put_key(l, key);
    put_word(l, word);
}

static void put_dtype(struct line *l, uint8_t dtype)
{
    put_word(l, kb_dtype_name((kb_dtype)dtype));
}

static void key_dtype(struct line *l, const char *key, uint8_t dtype)
{
    oplog_put_key(l, key);
    put_dtype(l, dtype);
}

static void key_space(struct line *l, const char *key, uint8_t space)
{
    oplog_key_word(l, key, space_name(space));
}

void oplog_put_counts(struct line *l, const uint32_t *values, uint32_t n)
{
    oplog_put_char(l, '[');
    for (uint32_t i = 0; i < n; i++) {
        put_comma(l);
        oplog_put_count(l, values[i]);
    }
    oplog_put_char(l, ']');
}

static void put_shape(struct line *l, const struct dims *shape)
{
    oplog_put_counts(l, shape->dim, shape->rank);
}

static void key_shape(struct line *l, const char *key, const struct dims *shape)
{
    oplog_put_key(l, key);
    put_shape(l, shape);
}

static void key_counts(struct line *l, const char *key, const uint32_t *values, uint32_t n)
{
    oplog_put_key(l, key);
    oplog_put_counts(l, values, n);
}

static void put_id(struct line *l, uint32_t id)
{
    if (id == OP_NONE)
        oplog_put_text(l, "null");
    else
        oplog_put_count(l, id);
}

static void key_id(struct line *l, const char *key, uint32_t id)
{
    oplog_put_key(l, key);
    put_id(l, id);
}

/* "h12": the tensor that op 12 made. */
static void key_handle(struct line *l, uint32_t maker)
{
    oplog_put_key(l, "handle_id");
    if (maker == OP_NONE) {
        oplog_put_text(l, "null");
        return;
    }
    oplog_put_text(l, "\"h");
    oplog_put_count(l, maker);
    oplog_put_char(l, '"');
}

static uint64_t tensor_bytes(const struct op_tensor *t)
{
    return dtype_size(t->dtype, dims_elements(&t->shape));
}

/* -- params --------------------------------------------------------------------------------- */

static void put_stride(struct line *l, int64_t stride)
{
    if (stride < 0)
        oplog_put_char(l, '-');
    oplog_put_count(l, stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride);
}

/* Of a list: how many runs it has. */
static void key_runs(struct line *l, const struct op *op)
{
    if (op->n_runs)
        oplog_key_count(l, "runs", op->n_runs);
}

static void key_strides(struct line *l, const char *key, const struct op *op)
{
    oplog_put_key(l, key);
    if (!op->strided) {
        oplog_put_text(l, "null");
        return;
    }
    oplog_put_char(l, '[');
    for (uint32_t i = 0; i < op->in[0].shape.rank; i++) {
        put_comma(l);
        put_stride(l, op->stride[i]);
    }
    oplog_put_char(l, ']');
}

static void put_end(struct line *l, const char *space, const char *addr, const struct op_tensor *t)
{
    key_space(l, space, t->space);
    oplog_key_count(l, addr, t->address);
}

void oplog_put_dma_read(struct line *l, const struct op *op)
{
    const struct op_tensor *src = &op->in[0], *moved = &op->out; /* of a sum one of its sources */

    oplog_key_ns(l, "t_issue", op->t_issue_fs);
    put_end(l, "src_space", "src_addr", src);
    put_end(l, "dst_space", "dst_addr", &op->out);
    key_shape(l, "shape", &moved->shape);
    key_dtype(l, "dtype", moved->dtype);
    oplog_key_count(l, "nbytes", tensor_bytes(moved));
    key_handle(l, op->id);
    key_strides(l, "src_strides", op);
    key_runs(l, op);
}

/* How an atomic combines: "max". */
static const char *atomic_name(const struct op *op)
{
    if (op->kind == OP_DMA_WRITE)
        return "xchg";
    if (op->math == TL_MAXIMUM || op->math == TL_MINIMUM)
        return op->math == TL_MAXIMUM ? "max" : "min";
    return math_rows[op->math].name;
}

void oplog_put_dma_write(struct line *l, const struct op *op)
{
    const struct op_tensor *src = &op->in[op->n_in - 1]; /* of an atomic behind what was there */

    oplog_key_ns(l, "t_issue", op->t_issue_fs);
    put_end(l, "src_space", "src_addr", src);
    key_shape(l, "shape", &src->shape);
    key_dtype(l, "dtype", src->dtype);
    put_end(l, "dst_space", "dst_addr", &op->out);
    oplog_key_count(l, "nbytes", tensor_bytes(src));
    key_handle(l, src->maker);
    key_strides(l, "dst_strides", op);
    key_id(l, "snapshot", src->maker);
    key_runs(l, op);
    if (op->atomic)
        oplog_key_word(l, "atomic", atomic_name(op));
}

/* A piece of a message to another PE. */
void oplog_put_ipcq_copy(struct line *l, const struct op *op)
{
    const struct op_tensor *src = &op->in[0];

    oplog_key_ns(l, "t_issue", op->t_issue_fs);
    put_end(l, "src_space", "src_addr", src);
    put_end(l, "dst_space", "dst_addr", &op->out);
    key_shape(l, "shape", &src->shape);
    key_dtype(l, "dtype", src->dtype);
    oplog_key_count(l, "nbytes", tensor_bytes(src));
    key_id(l, "snapshot", src->maker);
}

static void key_layout(struct line *l, const char *key, bool is_col)
{
    oplog_key_word(l, key, is_col ? "col_major" : "row_major");
}

/* "G" of docs/formats.md "Op log". */
static void put_gemm(struct line *l, const struct op *op)
{
    const struct op_tensor *a = &op->in[0], *b = &op->in[1];

    oplog_key_count(l, "src_a_addr", a->address);
    oplog_key_count(l, "src_b_addr", b->address);
    oplog_key_count(l, "dst_addr", op->out.address);
    key_shape(l, "shape_a", &a->shape);
    key_shape(l, "shape_b", &b->shape);
    key_shape(l, "shape_out", &op->out.shape);
    key_dtype(l, "dtype_in", a->dtype);
    if (b->dtype != a->dtype)
        key_dtype(l, "dtype_b", b->dtype);
    key_dtype(l, "dtype_acc", op->dtype_acc);
    key_dtype(l, "dtype_out", op->out.dtype);
    oplog_key_count(l, "m", op->m);
    oplog_key_count(l, "k", op->k);
    oplog_key_count(l, "n", op->n);
    key_bool(l, "transpose_a", op->transpose_a);
    key_bool(l, "transpose_b", op->transpose_b);
    key_layout(l, "layout_a", op->col_a);
    key_layout(l, "layout_b", op->col_b);
    key_layout(l, "layout_out", op->col_out);
    key_space(l, "src_a_space", a->space);
    key_space(l, "src_b_space", b->space);
    key_space(l, "dst_space", op->out.space);
}

/* Entries of key_tensors(). */
static void put_address(struct line *l, const struct op_tensor *t)
{
    oplog_put_count(l, t->address);
}

static void put_its_shape(struct line *l, const struct op_tensor *t)
{
    put_shape(l, &t->shape);
}

static void put_its_space(struct line *l, const struct op_tensor *t)
{
    put_word(l, space_name(t->space));
}

static void put_its_dtype(struct line *l, const struct op_tensor *t)
{
    put_dtype(l, t->dtype);
}

static void put_snapshot(struct line *l, const struct op_tensor *t)
{
    put_id(l, t->maker);
}

/* One entry per operand: null for a scalar. */
static void key_tensors(struct line *l, const char *key, const struct op *op,
                        void (*put)(struct line *l, const struct op_tensor *t))
{
    oplog_put_key(l, key);
    oplog_put_char(l, '[');
    for (uint32_t i = 0; i < op->n_in; i++) {
        put_comma(l);
        if (op->in[i].is_scalar)
            oplog_put_text(l, "null");
        else
            put(l, &op->in[i]);
    }
    oplog_put_char(l, ']');
}

/* One entry per operand: null for a tensor. */
static void key_scalars(struct line *l, const struct op_tensor *t, uint32_t n)
{
    oplog_put_key(l, "scalars");
    oplog_put_char(l, '[');
    for (uint32_t i = 0; i < n; i++) {
        put_comma(l);
        if (t[i].is_scalar)
            oplog_put_double(l, t[i].scalar);
        else
            oplog_put_text(l, "null");
    }
    oplog_put_char(l, ']');
}

static void key_axis(struct line *l, const struct op *op)
{
    oplog_put_key(l, "axis");
    if (op->has_axis && !op->all_axes)
        oplog_put_count(l, (uint64_t)op->axis);
    else
        oplog_put_text(l, "null");
}

static void key_inputs(struct line *l, const struct op *op)
{
    oplog_key_word(l, "op", op_math_name(op));
    key_tensors(l, "input_addrs", op, put_address);
    key_tensors(l, "input_shapes", op, put_its_shape);
    key_tensors(l, "input_spaces", op, put_its_space);
    key_tensors(l, "input_dtypes", op, put_its_dtype);
    key_scalars(l, op->in, op->n_in);
}

/* "X" of docs/formats.md "Op log". */
static void put_math(struct line *l, const struct op *op)
{
    key_inputs(l, op);
    oplog_key_count(l, "dst_addr", op->out.address);
    key_space(l, "dst_space", op->out.space);
    key_shape(l, "shape_out", &op->out.shape);
    key_dtype(l, "dtype", op->out.dtype);
    key_axis(l, op);
    key_bool(l, "keepdims", op->keepdims);
    key_tensors(l, "input_snapshots", op, put_snapshot);
}

static void put_composite(struct line *l, const struct op *op)
{
    oplog_key_count(l, "out_addr", op->out.address);
    oplog_key_count(l, "out_nbytes", tensor_bytes(&op->out));
    key_counts(l, "tile", op->tile, 3);
    oplog_key_count(l, "tokens", op->tokens);
}

/* Its tensor operand; NULL: it has none. */
static const struct op_tensor *tensor_of(const struct op_epilogue *e)
{
    for (uint32_t i = 0; i < e->n_operands; i++)
        if (!e->operand[i].is_scalar)
            return &e->operand[i];
    return NULL;
}

static void key_null(struct line *l, const char *key)
{
    oplog_put_key(l, key);
    oplog_put_text(l, "null");
}

/*
 * A step of an epilogue has the form of a MATH with the accumulator as its first operand, which is
 * therefore not listed. At most one of the others is a tensor (tl_product.c), so its address,
 * space, shape and type are members of the step and no lists.
 */
static void put_epilogue(struct line *l, const struct op_epilogue *e)
{
    const struct op_tensor *t = tensor_of(e);

    put_comma(l);
    oplog_put_char(l, '{');
    oplog_key_word(l, "op", math_rows[e->math].name);
    key_scalars(l, e->operand, e->n_operands);
    if (t) {
        oplog_key_count(l, "input_addr", t->address);
        key_space(l, "input_space", t->space);
        key_shape(l, "input_shape", &t->shape);
        key_dtype(l, "input_dtype", t->dtype);
    } else {
        key_null(l, "input_addr");
        key_null(l, "input_space");
        key_null(l, "input_shape");
        key_null(l, "input_dtype");
    }
    oplog_put_char(l, '}');
}

static void key_epilogue(struct line *l, const struct op *op)
{
    oplog_put_key(l, "epilogue");
    oplog_put_char(l, '[');
    for (uint32_t i = 0; i < op->n_epilogues; i++)
        put_epilogue(l, &op->epilogue[i]);
    oplog_put_char(l, ']');
}

static void put_composite_gemm(struct line *l, const struct op *op)
{
    oplog_key_word(l, "op", "gemm");
    put_composite(l, op);
    key_epilogue(l, op);
    put_gemm(l, op);
}

/* "in0" or "step2"; null: none. */
static void put_step_operand(struct line *l, int8_t at)
{
    put_comma(l);
    if (at == 0) {
        oplog_put_text(l, "null");
        return;
    }
    oplog_put_text(l, at > 0 ? "\"in" : "\"step");
    oplog_put_count(l, (uint64_t)(at > 0 ? at - 1 : -1 - at));
    oplog_put_char(l, '"');
}

static void put_step(struct line *l, const struct op_step *step)
{
    put_comma(l);
    oplog_put_char(l, '{');
    oplog_key_word(l, "op", math_rows[step->math].name);
    oplog_put_key(l, "operands");
    oplog_put_char(l, '[');
    for (uint32_t o = 0; o < math_rows[step->math].operands; o++)
        put_step_operand(l, step->operand[o]);
    oplog_put_text(l, "]}");
}

static void put_results(struct line *l, const struct op *op)
{
    struct dims shape[TL_FUSED_STEPS];
    struct op_result result[TL_FUSED_STEPS];
    uint32_t n;

    op_fused_shapes(op, shape);
    n = op_fused_results(op, shape, result);
    for (uint32_t i = 0; i < n; i++) {
        put_comma(l);
        oplog_put_char(l, '{');
        oplog_key_count(l, "step", result[i].step);
        oplog_key_count(l, "dst_addr", op->out.address + result[i].at);
        key_shape(l, "shape_out", &shape[result[i].step]);
        key_dtype(l, "dtype", op->step[result[i].step].out);
        oplog_put_char(l, '}');
    }
}

static void put_fused(struct line *l, const struct op *op)
{
    key_inputs(l, op);
    oplog_put_key(l, "steps");
    oplog_put_char(l, '[');
    for (uint32_t i = 0; i < op->n_steps; i++)
        put_step(l, &op->step[i]);
    oplog_put_char(l, ']');
    oplog_put_key(l, "outputs");
    oplog_put_char(l, '[');
    put_results(l, op);
    oplog_put_char(l, ']');
    key_space(l, "dst_space", op->out.space);
    key_tensors(l, "input_snapshots", op, put_snapshot);
}

static void put_acc_store(struct line *l, const struct op *op)
{
    oplog_key_count(l, "acc", op->in[0].address);
    key_epilogue(l, op);
    key_shape(l, "shape_out", &op->out.shape);
    key_dtype(l, "dtype", op->out.dtype);
    oplog_key_count(l, "dst_addr", op->out.address);
    key_space(l, "dst_space", op->out.space);
}

/*
 * Four kinds of records share the columns: a dot (OP_GEMM), a MATH, and a composite of either; a
 * fused MATH has its steps and results. A
 * composite is one record, and its tiles are tokens, with the composite's op_id as their `parent`.
 * `run gemm M=64 N=64 K=64` on cube8 has 2112 commands and 2048 tokens (FETCH and STORE of each
 * dot, add and cast): 4160 records.
 */
void oplog_put_compute(struct line *l, const struct op *op)
{
    oplog_key_ns(l, "t_issue", op->t_issue_fs);
    if (op->kind == OP_GEMM && op->composite) {
        put_composite_gemm(l, op);
    } else if (op->kind == OP_GEMM) {
        put_gemm(l, op);
    } else if (op_of_acc(op) && op->composite) {
        put_acc_store(l, op);
    } else if (op->math == TL_FUSED) {
        put_fused(l, op);
    } else {
        if (op->composite)
            put_composite(l, op);
        put_math(l, op);
    }
}

/*
 * A stage has the members that its engine used: a transfer its bytes, and where from or to; GEMM
 * the extents of the tile; MATH its elements.
 */
static void put_stage(struct line *l, const struct op_token *t)
{
    switch ((enum op_stage)t->stage) {
    case STAGE_DMA_READ:
        oplog_key_count(l, "operand", t->operand);
        key_space(l, "src_space", t->space);
        oplog_key_count(l, "src_addr", t->address);
        oplog_key_count(l, "nbytes", t->nbytes);
        break;
    case STAGE_DMA_WRITE:
        key_space(l, "dst_space", t->space);
        oplog_key_count(l, "dst_addr", t->address);
        oplog_key_count(l, "nbytes", t->nbytes);
        break;
    case STAGE_FETCH:
    case STAGE_STORE:
        oplog_key_count(l, "nbytes", t->nbytes);
        break;
    case STAGE_GEMM:
        oplog_key_count(l, "m", t->m);
        oplog_key_count(l, "k", t->k);
        oplog_key_count(l, "n", t->n);
        break;
    case STAGE_MATH:
        oplog_key_word(l, "op", math_rows[t->math].name);
        oplog_key_count(l, "elements", t->elements);
        break;
    case STAGE_COMMAND: /* has a record of its own kind */
        break;
    }
}

void oplog_put_token(struct line *l, const struct op_token *t)
{
    oplog_key_word(l, "stage_type", stage_names[t->stage]);
    oplog_key_count(l, "parent", t->parent);
    oplog_key_count(l, "token", t->token);
    key_counts(l, "tile", t->tile, 3);
    put_stage(l, t);
}
