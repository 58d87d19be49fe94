/* acc.c -- accumulators: products that stay in pe_gemm, and what is done to them there.
 *
 * tl_acc_new() takes room in the engine. tl_dot_acc() sets the accumulator and then adds to it,
 * tl_acc_scale() multiplies it, tl_acc_store() rounds it into a tensor and gives the room back at
 * its end. These three are commands of an accumulator, and their engines come in the order of the
 * calls, whatever their operands do:
 *
 *     tl_dot_acc     FETCH from its start on; GEMM in turn
 *     tl_acc_scale   FETCH of v, if that is a tensor; MATH in turn
 *     tl_acc_store   the steps of its epilogue in turn, each FETCH, if it has a tensor, and MATH;
 *                    the first FETCH from its start on. Then STORE
 *
 * A command is *ready* when it has started and its first FETCH has ended. It has its *turn* when
 * the engines of all commands before it have ended. It goes on when it is both (acc_ready(),
 * pass_on()). So FETCHes run ahead, and no accumulator waits for another one.
 *
 * Values. The content after each command is a version, made as the command is issued, so in the
 * order of the calls: its operand is the version before. Phase 2 computes them like all others.
 *
 * Example, in ns: a load of x ends at 21; tl_dot_acc(x) is issued at 6, tl_dot_acc(y) at 9. The
 * second one's FETCH takes the port from 9 to 25, that of the first until 41. GEMM of the first
 * from 41 to 57, of the second, which was ready at 25, to 73.
 */
#include "kernels/acc.h"
#include "kernels/error.h"
#include "kernels/flight.h"
#include "kernels/operands.h"
#include "kernels/pool.h"
#include "pe/boxes.h"

bool acc_has_room(const struct tl_ctx *pe, uint64_t nbytes)
{
    uint64_t room = pe_kind(pe)->pe.acc_bytes;

    return nbytes <= room && pe->acc_bytes <= room - nbytes;
}

struct tl_acc *acc_new(struct tl_ctx *pe, uint64_t nbytes)
{
    struct tl_acc *acc = acc_row_new(pe->kernels);

    if (!acc)
        return NULL;
    *acc = (struct tl_acc){
        .next = pe->accs, .pe = pe, .nbytes = nbytes, .number = pe->n_accs++, .maker = OP_NONE};
    pe->accs = acc;
    pe->acc_bytes += nbytes;
    return acc;
}

/* It has been taken out of its PE's list. */
static void acc_drop(struct tl_acc *acc)
{
    version_drop(acc->view.v);
    acc->view.v = NULL;
    acc->pe->acc_bytes -= acc->nbytes;
    acc_row_free(acc->pe->kernels, acc);
    acc->pe = NULL;
}

void accs_free_all(struct tl_ctx *pe)
{
    while (pe->accs) {
        struct tl_acc *acc = pe->accs;

        pe->accs = acc->next;
        acc_drop(acc);
    }
    pe->n_accs = pe->acc_stores = 0;
}

void acc_gone(struct tl_acc *acc)
{
    struct tl_acc **link = &acc->pe->accs;

    while (*link != acc)
        link = &(*link)->next;
    *link = acc->next;
    acc_drop(acc);
}

/* Its content was stored. */
static void acc_give_back(uint64_t t, struct tl_acc *acc)
{
    struct tl_ctx *pe = acc->pe;

    pe->acc_stores--;
    acc_gone(acc);
    flight_room(pe, t);
}

void acc_operand(const struct tl_acc *acc, struct op_tensor *operand)
{
    *operand = (struct op_tensor){.address = acc->number,
                                  .dtype = acc->dtype,
                                  .space = SPACE_ACC,
                                  .maker = OP_NONE,
                                  .shape = acc->shape};
}

/* -- issue ---------------------------------------------------------------------------------- */

/* The operand that is the accumulator; NULL: the command sets it. */
static struct op_tensor *acc_among(struct op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].space == SPACE_ACC)
            return &op->in[i];
    return NULL;
}

static bool is_acc_store(const struct command *c)
{
    return c->op.composite;
}

uint64_t acc_stages(const struct command *c)
{
    if (is_acc_store(c))
        return acc_store_stages(c);
    return c->fetch_bytes != 0;
}

static bool take_value(struct command *c)
{
    struct tl_acc *acc = c->acc;
    struct op_tensor *before = acc_among(&c->op);

    if (before) {
        before->view = acc->view;
        before->maker = acc->maker;
        acc->view.v = NULL;
    }
    if (c->pe->sim->log && !op_ids_add(&c->op.depends, acc->maker)) {
        kernel_no_memory(c->pe);
        return false;
    }
    c->acc_before = acc->maker;
    acc->maker = c->op.id;
    if (is_acc_store(c))
        return true;
    if (!result_new(c, acc->nbytes))
        return false;
    acc->view = c->op.out.view;
    version_keep(acc->view.v);
    return true;
}

void acc_join(struct command *c)
{
    struct tl_acc *acc = c->acc;

    if (!take_value(c))
        return;
    c->pe->acc_stores += is_acc_store(c);
    c->behind = NULL;
    c->ready = false;
    c->turn = !acc->last;
    if (acc->last)
        acc->last->behind = c;
    acc->last = c;
}

/* -- stages --------------------------------------------------------------------------------- */

static void on_turn(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (is_acc_store(c))
        acc_store_turn(s, t, c);
    else
        compute_engine(s, t, c);
}

void acc_ready(struct kb_sim *s, uint64_t t, struct command *c)
{
    c->ready = true;
    if (c->turn)
        on_turn(s, t, c);
}

/* The engine of a command has ended: the next one has its turn. */
static void pass_on(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct command *next = c->behind;

    if (c->acc->last == c)
        c->acc->last = NULL;
    if (!next)
        return;
    next->turn = true;
    if (next->ready)
        on_turn(s, t, next);
}

void acc_start(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (is_acc_store(c) ? !acc_store_fetch(s, t, c) : !compute_fetch(s, t, c))
        acc_ready(s, t, c);
}

bool acc_stage_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (is_acc_store(c) && work->stage != STAGE_FETCH) {
        if (!acc_store_stage_done(s, t, work))
            return false;
        acc_give_back(t, c->acc);
        return true;
    }
    if (work->stage == STAGE_FETCH) {
        if (c->reads && !is_acc_store(c)) /* that one may have more to fetch */
            flight_fetched(s, t, c);
        acc_ready(s, t, c);
        return false;
    }
    compute_count(c->pe, &c->op);
    pass_on(s, t, c);
    return true;
}
