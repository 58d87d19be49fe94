/* accesses.c -- reports memory accesses and synchronisation of commands to the race detector.
 *
 * At its issue a command reports the bytes that it will read and write, and until when: an
 * asynchronous one until the kernel waits for its result. Sends, receives and barriers report an
 * order instead, and an atomic reports its access when it takes effect. docs/kernels.md "Races"
 * says what comes before what.
 */
#include "kernels/accesses.h"
#include "data/cast.h"
#include "machine/address.h"
#include "kernels/barrier.h"
#include "kernels/error.h"
#include "kernels/flight.h"
#include "pe/pe_ipcq.h"

/* Until when a command uses its bytes: its id, to be waited for. */
static uint64_t touches_until(const struct command *c)
{
    return c->async && c->task != TASK_SEND ? c->op.id : RACE_AT_ONCE;
}

static bool touch(struct command *c, const struct op_tensor *tensor, enum access_kind kind,
                  const struct strided *strided)
{
    const struct kb_topology *t = c->pe->sim->topo;
    struct touch touched = {.kind = kind,
                            .pe = c->pe->number,
                            .call = c->call,
                            .here = c->here,
                            .op = c->op.id,
                            .issue_fs = c->op.t_issue_fs,
                            .address = tensor->address,
                            .nbytes = op_tensor_bytes(tensor),
                            .strided = strided};
    uint64_t offset;

    return tensor->is_scalar || tensor->space == SPACE_ACC ||
           !address_find_area(t, tensor->address, &touched.memory, &offset) ||
           race_touch(c->pe->sim->race, &touched, touches_until(c));
}

/* The elements of a view, each once, axes of larger strides first. */
static struct strided touched_elements(const struct tl_tensor *x)
{
    struct strided of = tensor_elements(x), s = {.elem_bytes = of.elem_bytes};

    for (uint32_t i = 0; i < of.rank; i++) {
        uint32_t at = s.rank;

        if (of.stride[i] == 0 || of.dim[i] == 1)
            continue;
        for (; at > 0 && s.stride[at - 1] < of.stride[i]; at--) {
            s.dim[at] = s.dim[at - 1];
            s.stride[at] = s.stride[at - 1];
        }
        s.dim[at] = of.dim[i];
        s.stride[at] = of.stride[i];
        s.rank++;
    }
    return s;
}

/* Operand `i` in the TCM, which may be a slice. */
static bool touch_operand(struct command *c, uint32_t i)
{
    const struct tl_tensor *x = c->operand[i];
    struct strided s;

    if (!x || !x->apart)
        return touch(c, &c->op.in[i], ACCESS_READ, NULL);
    s = touched_elements(x);
    return touch(c, &c->op.in[i], ACCESS_READ, &s);
}

/* The result of a load, a receive, a dot or a math command, in the TCM. */
static bool touch_result(struct command *c)
{
    struct op_tensor x;

    if (!c->result) /* it stays in an accumulator */
        return true;
    set_tensor(&x, c->result);
    return touch(c, &x, ACCESS_WRITE, NULL);
}

/* All runs of a list. */
static bool touch_runs(struct command *c, enum access_kind kind)
{
    struct op_tensor run = {.dtype = KB_U8, .shape = {.rank = 1}};
    bool ok = true;

    for (uint32_t i = 0; i < c->op.n_runs && ok; i++) {
        run.address = c->runs[i].at;
        run.shape.dim[0] = (uint32_t)c->runs[i].nbytes;
        ok = touch(c, &run, kind, NULL);
    }
    return ok;
}

static bool touch_dma(struct command *c)
{
    struct strided g, *strided = NULL;

    if (c->runs && c->op.kind == OP_DMA_READ)
        return touch_runs(c, ACCESS_READ) && touch_result(c);
    if (c->runs)
        return touch(c, &c->op.in[0], ACCESS_READ, NULL) && touch_runs(c, ACCESS_WRITE);

    if (c->op.strided) {
        g = op_strided(&c->op);
        strided = &g;
    }
    if (c->op.kind == OP_DMA_READ)
        return touch(c, &c->op.in[0], ACCESS_READ, strided) && touch_result(c);
    return touch_operand(c, 0) && touch(c, &c->op.out, ACCESS_WRITE, strided);
}

/* An update reads y and writes its place in x; the rest of x it leaves alone. */
static bool touch_update(struct command *c)
{
    struct op_tensor part = c->op.in[1];
    uint64_t first;
    struct strided replaced = op_replaces(&c->op, &first);

    part.address = c->op.out.address + first;
    return touch_operand(c, 1) && touch(c, &part, ACCESS_WRITE, &replaced);
}

static bool touch_compute(struct command *c)
{
    const struct op *op = &c->op;
    bool ok = true;

    if (op_updates(op))
        return touch_update(c);
    for (uint32_t i = 0; i < op->n_in; i++)
        ok = ok && touch_operand(c, i);
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            ok = ok && touch(c, &op->epilogue[e].operand[i], ACCESS_READ, NULL);
    return ok && touch_result(c);
}

/* Sums of floats depend on the order, and so does what is left of exchanges. */
static enum access_kind kind_of_atomic(const struct op *op)
{
    bool sums = op->kind == OP_MATH && op->math == TL_ADD;

    if (op->kind == OP_DMA_WRITE || (sums && dtype_is_float((kb_dtype)op->out.dtype)))
        return ACCESS_ORDERED;
    return ACCESS_ATOMIC;
}

static bool touch_task(struct command *c)
{
    struct race *r = c->pe->sim->race;
    uint32_t pe = c->pe->number;

    switch ((enum task)c->task) {
    case TASK_VALUE:
        return touch(c, &c->op.in[0], ACCESS_READ, NULL);
    case TASK_ACC:
        return touch_compute(c);
    case TASK_PLAIN:
        return c->op.kind >= OP_GEMM ? touch_compute(c) : touch_dma(c);
    case TASK_SEND:
        return touch_operand(c, 0) &&
               race_send(r, pe, c->queue->receiver, c->queue->tag, c->pieces);
    case TASK_RECV:
        return race_receive(r, c->queue->sender, pe, c->queue->tag, c->pieces, touches_until(c)) &&
               touch_result(c);
    case TASK_BARRIER:
        return race_meet(r, pe, c->barrier, c->barrier->n);
    case TASK_COMBINE:
        return touch_operand(c, 0) && touch(c, &c->op.out, kind_of_atomic(&c->op), NULL) &&
               (c->result->kind == TENSOR_PLACE || touch_result(c));
    case TASK_ATOMIC: /* once it takes effect */
        break;
    }
    return true;
}

static bool follow(struct command *c, uint32_t maker)
{
    struct race *r = c->pe->sim->race;
    uint64_t until = touches_until(c);

    if (maker == OP_NONE)
        return true;
    return until == RACE_AT_ONCE ? race_waited(r, c->pe->number, maker)
                                 : race_follows(r, c->pe->number, until, maker);
}

/*
 * The makers of its operands come before it, and what an accumulator was made of. To wait for the
 * command is to wait for them; one that is over at once, or a send, by which another PE learns of
 * it, has waited for them.
 */
static bool follow_makers(struct command *c)
{
    bool ok = c->task != TASK_ACC || follow(c, c->acc_before);

    for (uint32_t i = 0; ok && i < c->n_operands; i++) {
        const struct tl_tensor *tensor = c->operand[i];

        if (tensor && flight_orders(c, tensor))
            ok = follow(c, tensor->made_by);
    }
    return ok;
}

void accesses_issued(struct tl_ctx *pe, struct command *c)
{
    struct kb_sim *s = pe->sim;

    if (s->status == KB_OK &&
        (!race_goes_on(s->race, pe->number) || !follow_makers(c) || !touch_task(c)))
        kernel_no_memory(pe);
}

void accesses_atomic(struct kb_sim *s, struct command *c)
{
    struct touch touched = {.kind = ACCESS_ATOMIC,
                            .pe = c->pe->number,
                            .call = c->call,
                            .here = c->here,
                            .op = c->op.id,
                            .issue_fs = c->op.t_issue_fs,
                            .memory = c->dst,
                            .address = c->op.out.address,
                            .nbytes = c->nbytes};

    if (!race_atomic(s->race, &touched))
        kernel_no_memory(c->pe);
}

/* From the kernel's stack. */
static void leave_without_memory(struct tl_ctx *pe)
{
    kernel_no_memory(pe);
    kernel_leave(pe);
}

void accesses_waited(struct tl_ctx *pe, uint64_t made_by)
{
    struct race *r = pe->sim->race;

    if (!race_goes_on(r, pe->number) || !race_waited(r, pe->number, made_by))
        leave_without_memory(pe);
}

void accesses_fetched(struct tl_ctx *pe, const struct tl_tensor *x)
{
    struct race *r = pe->sim->race;

    if (!race_goes_on(r, pe->number))
        leave_without_memory(pe);
    race_fetched(r, pe->number, x->address, x->address + x->nbytes);
}

void accesses_data(struct tl_ctx *pe, const char *call, tl_here here, uint64_t address,
                   uint64_t nbytes)
{
    struct touch touched = {.kind = ACCESS_READ,
                            .pe = pe->number,
                            .call = call,
                            .here = here,
                            .op = KB_NO_ID,
                            .issue_fs = (int64_t)pe->kernels->now_fs,
                            .memory = pe->tcm,
                            .address = address,
                            .nbytes = nbytes};
    struct race *r = pe->sim->race;

    if (!race_goes_on(r, pe->number) || !race_touch(r, &touched, RACE_AT_ONCE))
        leave_without_memory(pe);
}
