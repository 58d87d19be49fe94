/* compute.c -- dot and math commands: FETCH of the operands, the engine, STORE of the result.
 *
 * Three stages, one after the other; each takes its port or engine when it comes to it and gives it
 * back at its end. An operand that is given twice is fetched twice, a scalar not at all; with
 * scalars alone there is no FETCH. The result is pending, and visible to the PE from the start on.
 *
 * docs/kernels.md "Worked: four commands": a dot of 32x64x32 in f16 takes 3 + 16 + 16 + 4 = 39 ns.
 */
#include "kernels/flight.h"
#include "kernels/operands.h"
#include "pe/boxes.h"

/* A slice is fetched run by run, in whole lines; a line in which one ends and the next begins,
 * once.
 */
static uint64_t slice_bytes(const struct tl_tensor *x, uint64_t line_bytes)
{
    struct strided s = tensor_elements(x);
    uint64_t run = s.elem_bytes, address = x->address, lines = 0, behind = 0;
    int64_t at[KB_RANK_MAX] = {0};
    uint32_t rank = s.rank, i;

    for (i = 0; i < rank; i++) /* the same elements again, as by tl_expand() */
        if (s.stride[i] == 0)
            s.dim[i] = 1;
    while (rank && (s.dim[rank - 1] == 1 || s.stride[rank - 1] == (int64_t)run))
        run *= (uint64_t)s.dim[--rank];
    do {
        uint64_t first = address / line_bytes, end = (address + run - 1) / line_bytes + 1;

        lines += end - (first + 1 == behind ? behind : first);
        behind = end;
        for (i = rank; i > 0 && ++at[i - 1] == s.dim[i - 1]; i--) {
            address -= (uint64_t)(s.stride[i - 1] * (s.dim[i - 1] - 1));
            at[i - 1] = 0;
        }
        if (i > 0)
            address += (uint64_t)s.stride[i - 1];
    } while (i > 0);
    return lines * line_bytes;
}

/* What FETCH of an operand takes; of what a take goes through, the elements that are taken. */
static uint64_t operand_bytes(const struct command *c, uint32_t i)
{
    const struct op *op = &c->op;

    if (op->kind == OP_MATH && op->math == TL_TAKE && i == 0)
        return op_tensor_bytes(&op->out);
    if (c->operand[i] && c->operand[i]->sliced)
        return slice_bytes(c->operand[i], pe_kind(c->pe)->pe.line_bytes);
    return op->in[i].is_scalar || op->in[i].space == SPACE_ACC ? 0 : op_tensor_bytes(&op->in[i]);
}

/* The bytes that a dot or math command fetches and stores. */
void compute_measure(struct command *c)
{
    const struct op *op = &c->op;

    c->fetch_bytes = 0;
    for (uint32_t i = 0; i < c->n_operands && i < op->n_in; i++)
        c->fetch_bytes += operand_bytes(c, i);
    c->store_bytes = op_tensor_bytes(&op->out);
    if (op->kind == OP_MATH && op_has_indices(op))
        c->store_bytes += dims_elements(&op->out.shape) * dtype_bytes(KB_I32);
}

/* The work of its engine. */
static struct engine_work engine_work(const struct command *c)
{
    const struct op *op = &c->op;

    if (op->kind == OP_GEMM)
        return pe_gemm_work(c->pe, op, op->m, op->k, op->n);
    if (math_rows[op->math].group == MATH_ORDER)
        return pe_math_rows_work(c->pe, op);
    return pe_math_work(c->pe, (enum tl_op)op->math, dims_elements(op_math_shape(op)));
}

void compute_engine(struct kb_sim *s, uint64_t t, struct command *c)
{
    bool gemm = c->op.kind == OP_GEMM;
    struct engine_work work = engine_work(c);
    struct stage stage = {
        .command = c, .stage = gemm ? STAGE_GEMM : STAGE_MATH, .id = c->op.id, .data_op = true};

    engine_begin(s, t, &stage, &work);
}

static void begin_store(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct stage stage = {.command = c, .stage = STAGE_STORE, .id = c->next_id++, .data_op = true};

    pe_store(s, t, &stage, c->store_bytes);
}

bool compute_fetch(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct stage stage = {.command = c, .stage = STAGE_FETCH, .id = c->op.id + 1, .data_op = true};

    c->next_id = c->op.id + 1;
    if (c->fetch_bytes == 0)
        return false;
    c->next_id++;
    pe_fetch(s, t, &stage, c->fetch_bytes);
    return true;
}

void compute_start(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (result_begin(c) && !compute_fetch(s, t, c))
        compute_engine(s, t, c);
}

void compute_count(struct kernels *k, const struct op *op)
{
    if (op->kind == OP_GEMM)
        pe_gemm_count(k, &k->pes[op->pe], op, (uint64_t)op->m * op->k * op->n);
    else
        current_result(k)->math_elements += dims_elements(op_math_shape(op));
}

bool compute_stage_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (work->stage == STAGE_FETCH) {
        if (c->reads)
            flight_fetched(s, t, c);
        compute_engine(s, t, c);
        return false;
    }
    if (work->stage == STAGE_STORE)
        return true;
    compute_count(s->kernels, &c->op);
    begin_store(s, t, c);
    return false;
}

/* -- values, kernels/tl_value.c ---------------------------------------------------------------- */

void value_start(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct stage stage = {.command = c, .stage = STAGE_FETCH, .id = c->op.id, .data_op = true};

    pe_fetch(s, t, &stage, c->fetch_bytes);
}

void value_fetched(struct command *c)
{
    c->pe->value = c->op.in[0].view;
    c->op.in[0].view.v = NULL;
}
