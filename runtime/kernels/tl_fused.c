/* tl_fused.c -- a chain of operations of PE_MATH as one command.
 *
 * The steps of tl_fused() become steps of one operation, which names its inputs and steps by small
 * numbers (struct op_step of data/op.h). Its results are parts of one result, as values and indices
 * of tl_topk() are: they share a range of the TCM, and each is a tensor of its own. Between the
 * FETCH of all inputs and the STORE of all results nothing passes a port of the TCM, which is what
 * the command is for.
 *
 * Example, on cube8: mul, max, sub, exp, sum and cast of [128, 128] in f32, of which p (f16), max
 * and sum are stored. FETCH of 65536 bytes 128 ns; 256 cycles for each weight of 1, with that of
 * exp, 4, together 9 * 256; STORE of 32768 + 512 + 512 bytes 66 ns. With the issue 2501 ns, where
 * six commands take 3541.
 */
#include "kernels/tl_call.h"

static uint32_t count_inputs(const struct call *call, const tl_fused_args *args)
{
    uint32_t n = TL_FUSED_INPUTS;

    while (n > 0 && !args->in[n - 1])
        n--;
    for (uint32_t i = 0; i < n; i++)
        if (!args->in[i])
            BAD(call, "input %u is NULL, and there are more behind it", i);
    return n;
}

/* The inputs become operands; scalars take the type of the computation. */
static void add_inputs(const struct call *call, struct command *c, const tl_fused_args *args)
{
    uint32_t n = count_inputs(call, args);

    for (uint32_t i = 0; i < n; i++) {
        check_operand(call, args->in[i]);
        if (args->in[i]->kind != TENSOR_SCALAR)
            check_types(call, TL_FUSED, (kb_dtype)args->in[i]->dtype);
        add_operand(c, args->in[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        if (c->op.in[i].is_scalar)
            c->op.in[i].dtype = (uint8_t)op_fused_dtype(&c->op);
}

static bool may_be_fused(tl_op op)
{
    bool of_bits = math_rows[op].types == MATH_BITS || math_rows[op].types == MATH_INTEGER;

    return (math_is_elementwise(op) && !of_bits) || op == TL_CAST || op == TL_SUM || op == TL_MAX ||
           op == TL_MIN || op == TL_MEAN;
}

/* An operand is an input that is there, or a step before. */
static void check_step_operand(const struct call *call, const struct op *op, uint32_t i, int8_t at)
{
    if (at > op->n_in)
        BAD(call, "step %u takes input %d, and there are %u", i, at - 1, op->n_in);
    if (at < 0 && (uint32_t)(-1 - at) >= i)
        BAD(call, "step %u takes the result of step %d, which is not before it", i, -1 - at);
}

static void add_step(const struct call *call, struct op *op, const tl_step *from)
{
    const int8_t operand[3] = {from->x, from->y, from->z};
    uint32_t i = op->n_steps, takes;

    if (math_group(from->op) < 0 || !may_be_fused(from->op))
        BAD(call, "operation %s of step %u cannot be fused",
            math_group(from->op) < 0 ? "?" : math_rows[from->op].name, i);
    takes = math_rows[from->op].operands;
    for (uint32_t o = 0; o < 3; o++) {
        if (!operand[o] != (o >= takes))
            BAD(call, "%s of step %u takes %u operands", math_rows[from->op].name, i, takes);
        check_step_operand(call, op, i, operand[o]);
    }
    if (from->out == KB_I4)
        check_types(call, TL_FUSED, KB_I4);
    if (from->out)
        check_dtype(call, from->out);
    else if (from->op == TL_CAST)
        BAD(call, "cast of step %u has no type: it is that of its `out`", i);
    op->step[i] = (struct op_step){.math = (uint8_t)from->op,
                                   .operand = {operand[0], operand[1], operand[2]},
                                   .out = (uint8_t)from->out};
    op->n_steps++;
}

static void add_steps(const struct call *call, struct op *op, const tl_fused_args *args)
{
    op->n_steps = 0;
    for (uint32_t i = 0; i < TL_FUSED_STEPS && args->step[i].op != TL_GEMM; i++)
        add_step(call, op, &args->step[i]);
    if (op->n_steps == 0)
        BAD(call, "there is no step");
}

/* How many results are stored, and where the last one ends. */
static uint32_t place_results(const struct call *call, const struct op *op,
                              const tl_fused_args *args, struct dims shape[TL_FUSED_STEPS],
                              struct op_result result[TL_FUSED_STEPS])
{
    uint32_t bad = op_fused_shapes(op, shape), n, wanted = 0;

    if (bad < op->n_steps)
        BAD(call, "the operands of step %u, %s, do not fit", bad,
            math_rows[op->step[bad].math].name);
    for (uint32_t i = 0; i < op->n_steps; i++)
        if (op->step[i].out)
            result_bytes(call, (kb_dtype)op->step[i].out, &shape[i]);
    n = op_fused_results(op, shape, result);
    while (wanted < TL_FUSED_RESULTS && args->result[wanted])
        wanted++;
    if (n == 0)
        BAD(call, "no step has a result that is stored");
    if (n != wanted)
        BAD(call, "%u steps have a result that is stored, and there is room for %u", n, wanted);
    return n;
}

void tl_fused_at(tl_here here, tl_ctx *tl, tl_fused_args args)
{
    struct call call = begin_call(tl, "tl_fused", here);
    struct command *c = new_whole_command(&call, OP_MATH);
    struct op_result result[TL_FUSED_STEPS];
    struct dims shape[TL_FUSED_STEPS], bytes = {.rank = 1};
    struct tl_tensor *all;
    uint32_t n;

    c->op.math = TL_FUSED;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    add_inputs(&call, c, &args);
    add_steps(&call, &c->op, &args);
    n = place_results(&call, &c->op, &args, shape, result);
    if (result[n - 1].at + result[n - 1].nbytes > UINT32_MAX)
        BAD(&call, "the results have more bytes than any TCM");
    bytes.dim[0] = (uint32_t)(result[n - 1].at + result[n - 1].nbytes);
    set_result(&call, c, KB_U8, &bytes);
    for (uint32_t i = 0; i < n; i++) /* the command is gone when it has ended */
        shape[i] = shape[result[i].step];
    all = do_command(c);
    for (uint32_t i = 0; i < n; i++)
        *args.result[i] =
            tensor_part(&call, all, args.step[result[i].step].out, &shape[i], result[i].at);
    tensor_give_back(&call, all);
}
