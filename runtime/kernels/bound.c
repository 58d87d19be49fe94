/* bound.c -- a lower bound of the time of launches, for tune: what PEs of each must do anyway.
 *
 * The kernel of a PE runs once, on its own stack, in no simulated time. None of its commands is
 * carried out. Each is weighed, and the kernel goes on at once:
 *
 * First, what it keeps busy: the ports of the TCM, both engines, the DMA channels. Nothing is
 * faster than the sum of one of these over as many as there are of it.
 *
 * Second, when it could end at the soonest. It starts at its issue, or when its operands could be
 * there, and never waits for a port, an engine, a channel, a link, or another PE. An asynchronous
 * one lets the kernel go on at its issue.
 *
 * The time of the launch is at least the largest of these, of any PE: eight are weighed, from the
 * first to the last, as in many kernels the work of all others lies between theirs. One launch
 * comes after the other in its stream, so their bounds add up; where there are several streams the
 * largest counts.
 *
 * A transfer is weighed where its time alone is a sum of three tables: machines without routers,
 * caches, banks or components, and bytes in one piece. Elsewhere it takes no time here, and so do
 * all messages and barriers. An accumulator's commands could be made to wait for each other; the
 * sum over the engine says nearly as much.
 *
 * A kernel that asks for what is not there when nothing is carried out - a value, an integer that
 * others add to, the time, a tensor that was kept, room that has to come back - is weighed up to
 * that call: it comes to it in any case, so this is a bound, too. One that makes a mistake, or
 * whose tensors do not fit, has the bound 0, so that it runs and says so. What a kernel does beside
 * its commands, as to print, it does here, too.
 *
 * Example, cube8: a load of 4096 bytes of the own slice, then exp of them as f32, without
 * tl_async(): the load is issued at 3 and ends at 21.085; the exp is issued at 24.085, and has
 * FETCH 8, MATH 1024 / 64 * 4 = 64, STORE 8: 104.085. Under tl_async() it starts at 21.085, as it
 * was issued at 6, and ends at 101.085. No sum is larger. Alone both are the times themselves.
 */
#include "base/larger.h"
#include "kernels/bound.h"
#include "kernels/acc.h"
#include "kernels/error.h"
#include "kernels/flight.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "machine/endpoint.h"
#include "pe/boxes.h"

/* -- what a command takes --------------------------------------------------------------------- */

/* Is a transfer alone what the tables say? */
static bool is_plain(const struct kb_sim *s, const struct command *c)
{
    const struct kb_topology *t = s->topo;

    return t->links != MODE_ROUTER && !t->splits && !s->splits && !s->chooses && !c->runs &&
           c->task == TASK_PLAIN;
}

/* Of a load or a store, from its channel to its end. */
static int64_t transfer_fs(const struct command *c, bool writes)
{
    struct kb_sim *s = c->pe->sim;
    struct txn x = {.nbytes = c->nbytes & TXN_MAX_BYTES,
                    .src = c->pe->src,
                    .dst = c->dst,
                    .op = writes ? KB_WRITE : KB_READ};
    struct known_cost cost;
    struct trip trip;

    if (!is_plain(s, c))
        return 0;
    if (!s->topo->regular)
        x.course = endpoint_course(s->topo, writes ? KB_WRITE : KB_READ, x.src, x.dst, 0, 0) & 63u;
    trip = txn_trip(s->topo, &x);
    cost = cost_known(s->topo, &s->mask, &trip, writes, x.nbytes);
    return cost.way_fs + cost.hold_fs;
}

static int64_t keep_busy(struct bound *b, unsigned what, int64_t fs)
{
    b->busy_fs[what] += fs;
    return fs;
}

/* FETCH, the engine and STORE of a dot or a math command, also of one on an accumulator. */
static int64_t compute_fs(struct bound *b, struct command *c)
{
    const struct op *op = &c->op;
    struct engine_work work;
    int64_t fs;

    compute_measure(c);
    work = compute_work(c);
    fs = keep_busy(b, PORT_TCM_READ, pe_fetch_fs(c->pe, c->fetch_bytes));
    fs += keep_busy(b, op->kind == OP_GEMM ? PORT_GEMM : PORT_MATH,
                    work.overhead_fs + work.cycles_fs);
    if (op->out.space != SPACE_ACC)
        fs += keep_busy(b, PORT_TCM_WRITE, pe_store_fs(c->pe, c->store_bytes));
    return fs;
}

/* A composite keeps its engine busy for all of its product, in tiles or not; an accumulator is
 * stored. */
static int64_t tiles_fs(struct bound *b, const struct command *c)
{
    const struct op *op = &c->op;

    if (c->task == TASK_ACC)
        return keep_busy(b, PORT_TCM_WRITE, pe_store_fs(c->pe, op_tensor_bytes(&op->out)));
    if (op->kind == OP_GEMM)
        return keep_busy(b, PORT_GEMM, pe_gemm_work(c->pe, op, op->m, op->k, op->n).cycles_fs);
    return 0;
}

static int64_t command_fs(struct bound *b, struct command *c)
{
    bool writes = c->op.kind == OP_DMA_WRITE;

    if (c->task != TASK_PLAIN && c->task != TASK_ACC)
        return 0;
    if (c->op.composite)
        return tiles_fs(b, c);
    if (c->op.kind >= OP_GEMM)
        return compute_fs(b, c);
    return keep_busy(b, writes ? BUSY_WRITES : BUSY_READS, transfer_fs(c, writes));
}

/* -- a kernel runs ---------------------------------------------------------------------------- */

void bound_ends(struct tl_ctx *pe)
{
    if (bound_weighs(pe->kernels))
        kernel_leave(pe);
}

/* What it gives the kernel is not known, or it writes over what others read. */
static bool is_unknown(const struct command *c)
{
    return c->task == TASK_ATOMIC || c->task == TASK_VALUE || op_updates(&c->op);
}

static int64_t operands_fs(const struct command *c, int64_t issue_fs)
{
    int64_t start_fs = issue_fs;

    for (uint32_t i = 0; i < c->n_operands; i++)
        if (c->operand[i] && flight_orders(c, c->operand[i]))
            start_fs = larger(start_fs, c->operand[i]->made_fs);
    return start_fs;
}

/* Its result gets its room. False: it waits for some, or there is none. */
static bool has_room(struct command *c)
{
    struct tl_tensor *x = c->result;

    return !x || x->kind != TENSOR_VALUE || x->block || tcm_alloc(c->pe, x) == TCM_OK;
}

void bound_command(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    struct bound *b = pe->kernels->bound;
    int64_t issue_fs = b->now_fs + pe_issue_fs(pe), end_fs;

    b->fails = !has_room(c);
    if (b->fails || b->commands == COMMANDS_MOST || is_unknown(c))
        kernel_leave(pe);
    b->commands++;
    c->overlaps = pe->overlaps;
    c->async = c->async || (c->overlaps && c->task != TASK_BARRIER);
    end_fs = operands_fs(c, issue_fs) + command_fs(b, c);
    b->now_fs = c->async ? issue_fs : end_fs;
    b->end_fs = larger(b->end_fs, end_fs);
    if (c->result) {
        c->result->made_fs = end_fs;
        c->result->wait = c->async ? WAIT_PENDING : WAIT_NONE;
    }
    pe->outstanding = 1; /* for tl_wait_all() */
    if (c->task == TASK_ACC && c->op.composite)
        acc_gone(c->acc);
    command_free(pe->kernels, c);
}

bool bound_waits(struct tl_ctx *pe)
{
    struct bound *b = pe->kernels->bound;

    if (!b)
        return false;
    if (pe->state == PE_WAITS_ROOM)
        kernel_leave(pe);
    for (struct tl_tensor *x = pe->newest; x; x = x->older)
        if (x->wait == WAIT_PENDING && (pe->state == PE_WAITS_ALL || x == pe->awaited)) {
            x->wait = WAIT_ENDED;
            b->now_fs = larger(b->now_fs, x->made_fs);
        }
    if (pe->state == PE_WAITS_ALL)
        b->now_fs = larger(b->now_fs, b->end_fs);
    pe->awaited = NULL;
    return true;
}

bool bound_pays(struct tl_ctx *pe, int64_t fs)
{
    if (!bound_weighs(pe->kernels))
        return false;
    pe->kernels->bound->now_fs += fs;
    return true;
}
