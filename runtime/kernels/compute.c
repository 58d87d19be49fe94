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
#include "kernels/error.h"
#include "kernels/service.h"
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

static bool is_fused(const struct op *op)
{
    return op->kind == OP_MATH && op->math == TL_FUSED;
}

/* Has an operand before it the same tensor? A fused command fetches each once. */
static bool is_fetched_before(const struct command *c, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (c->operand[i] && c->operand[j] == c->operand[i])
            return true;
    return false;
}

/* What FETCH of an operand takes. */
static uint64_t operand_bytes(const struct command *c, uint32_t i)
{
    const struct op_tensor *in = &c->op.in[i];

    if (c->operand[i] && c->operand[i]->sliced)
        return slice_bytes(c->operand[i], pe_kind(c->pe)->pe.line_bytes);
    return in->is_scalar || in->space == SPACE_ACC ? 0 : op_tensor_bytes(in);
}

/* Are its operands not all fetched as they are, or has it more than one result? */
static bool is_special(const struct op *op)
{
    enum { SPECIAL = 1 << MATH_ORDER | 1 << MATH_TAKE | 1 << MATH_UPDATE | 1 << MATH_FUSED };

    return op->kind == OP_MATH && SPECIAL >> math_rows[op->math].group & 1;
}

/* The same of an operation that is special: of what a take goes through, the elements that are
 * taken; what an update writes over is not read; and a fused one fetches each tensor once. */
static uint64_t special_bytes(const struct command *c, uint32_t i)
{
    const struct op *op = &c->op;

    if (op->math == TL_TAKE && i == 0)
        return op_tensor_bytes(&op->out);
    if ((op_updates(op) && i == 0) || (is_fused(op) && is_fetched_before(c, i)))
        return 0;
    return operand_bytes(c, i);
}

/* Of all results; there may be gaps between them. */
static uint64_t fused_bytes(const struct op *op)
{
    struct dims shape[TL_FUSED_STEPS];
    struct op_result result[TL_FUSED_STEPS];
    uint64_t nbytes = 0;
    uint32_t n;

    op_fused_shapes(op, shape);
    n = op_fused_results(op, shape, result);
    for (uint32_t i = 0; i < n; i++)
        nbytes += result[i].nbytes;
    return nbytes;
}

/* The bytes that a dot or math command fetches and stores. */
void compute_measure(struct command *c)
{
    const struct op *op = &c->op;
    bool special = is_special(op);

    c->fetch_bytes = 0;
    for (uint32_t i = 0; i < c->n_operands && i < op->n_in; i++)
        c->fetch_bytes += special ? special_bytes(c, i) : operand_bytes(c, i);
    c->store_bytes = op_tensor_bytes(&op->out);
    if (!special)
        return;
    if (op_has_indices(op))
        c->store_bytes += dims_elements(&op->out.shape) * dtype_bytes(KB_I32);
    if (op_updates(op))
        c->store_bytes = op_tensor_bytes(&op->in[1]);
    if (is_fused(op))
        c->store_bytes = fused_bytes(op);
}

/* The work of its engine. */
struct engine_work compute_work(const struct command *c)
{
    const struct op *op = &c->op;

    if (op->kind == OP_GEMM)
        return pe_gemm_work(c->pe, op, op->m, op->k, op->n);
    if (math_rows[op->math].group == MATH_ORDER)
        return pe_math_rows_work(c->pe, op);
    if (op->math == TL_FUSED)
        return pe_math_fused_work(c->pe, op);
    return pe_math_work(c->pe, (enum tl_op)op->math, op_math_elements(op));
}

void compute_engine(struct kb_sim *s, uint64_t t, struct command *c)
{
    bool gemm = c->op.kind == OP_GEMM;
    struct engine_work work = compute_work(c);
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

/*
 * An update takes the place of what its tensor held: views that have not been shown to other PEs
 * are shown before. Where the tensor itself has been shown, others may have stored to the rest of
 * its place, and that stays. Its record is of all of it, from its start to its end.
 */
static void update_start(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct tl_tensor *x = c->result;
    bool ok = x->block->refs <= 2 || tcm_show(c->pe), shown = !x->hidden;

    if (!ok)
        kernel_no_memory(c->pe);
    else if (x->kind == TENSOR_PLACE)
        ok = result_new(c, x->nbytes) && result_publish(c, c->pe->tcm, &c->op.out);
    else
        ok = result_begin(c);
    if (ok && shown && x->kind != TENSOR_PLACE) {
        x->hidden = false;
        ok = result_replace(c);
    }
    c->service = (struct work){.command = c, .stage = STAGE_COMMAND, .data_op = true};
    service_begin(&c->service, t);
    if (ok)
        compute_fetch(s, t, c);
}

/* Is its FETCH known to end at another time, which becomes *t? Nothing has to happen there. */
static bool fetch_passes(struct kb_sim *s, uint64_t *t, struct command *c)
{
    if (!c->fetch_bytes || !stage_passes(s, t, c, pe_fetch_fs(c->pe, c->fetch_bytes)))
        return false;
    c->next_id = c->op.id + 2;
    return true;
}

void compute_start(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (op_updates(&c->op)) {
        update_start(s, t, c);
        return;
    }
    if (result_begin(c) && (fetch_passes(s, &t, c) || !compute_fetch(s, t, c)))
        compute_engine(s, t, c);
}

void compute_count(const struct tl_ctx *pe, const struct op *op)
{
    if (op->kind == OP_GEMM)
        pe_gemm_count(pe, op, (uint64_t)op->m * op->k * op->n * op_batch(op));
    else
        pe_result(pe)->math_elements += op_math_elements(op);
}

bool compute_stage_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (work->stage == STAGE_FETCH) {
        if (c->reads)
            flight_fetched(s, t, c);
        if (op_updates(&c->op))
            begin_store(s, t, c);
        else
            compute_engine(s, t, c);
        return false;
    }
    if (work->stage == STAGE_STORE) {
        if (op_updates(&c->op))
            service_end(s, &c->service, t);
        return true;
    }
    compute_count(c->pe, &c->op);
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
