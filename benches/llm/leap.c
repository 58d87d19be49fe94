/*
 * leap.c -- operations of a rank that are known: its PEs wait as long as they took, and issue
 * nothing.
 *
 * Between two collectives of ranks a rank is alone. Its PEs leave a barrier each a fixed time after
 * the last of them has come: the word of the release takes its way. All that they had under way has
 * ended, and where layers repeat (chip.repeats) nothing else is left of it. So an operation
 * that begins behind a barrier takes, on each PE, what it takes in a run of this rank alone, and
 * only collectives, in which ranks meet at times that shift, have to be simulated.
 *
 * One layer of one rank is simulated without collectives, of each rank if they are not all alike:
 * struct llm_known. Then whatever lies between two collectives is leapt over, in all ranks and
 * layers: each PE waits until it would come to the last barrier, and takes part in that. So which
 * comes first at the collective, and with which command, is as ever. When the barrier ends at
 * another time than is known, the run is wrong, is thrown away and done again without this leap. So
 * it is when a rank that was ahead has sent a piece of its next collective to a PE that still
 * leaps: the piece may be in the way of what is leapt over, as long as that brings bytes to the
 * TCM. And so it is when the DMA of a PE has not kept the time yet (issue_ns) that lies between its
 * last command before the leap and the next; where one has not as a leap ends, no leap is taken.
 * The first operation of all is not leapt over, as no barrier is before it.
 *
 * Example: 16 layers of 11 operations, a prefill of 1024 tokens on 8 cubes in a torus. What is
 * between collectives takes 409.3 us in each layer; all_reduce1 takes 34.65337 to 34.65803 us, by
 * which is first on a link, so no two layers are alike. One layer of one cube is simulated, and 33
 * collectives of eight.
 */
#include "benches/llm/llm_place.h"
#include <math.h>

/* The place of this PE in the row of what was done. */
static size_t row(const struct llm_pe *me, size_t done)
{
    const struct llm_step *s = me->s;

    return (done * s->ranks + me->rank) * s->pes + me->index;
}

/* In that of an operation that is known. */
static size_t row_known(const struct llm_pe *me, size_t op)
{
    uint32_t ranks = me->s->known->ranks;

    return (op * ranks + (ranks > 1 ? me->rank : 0)) * me->s->pes + me->index;
}

int64_t llm_now_fs(const struct llm_pe *me)
{
    return llround(tl_time(me->tl) * 1e6);
}

static void has_done(const struct llm_pe *me, size_t done)
{
    if (me->rank == 0 && me->index == 0)
        *me->s->done = done + 1;
}

/* The last leap is not taken again. Only behind its barrier: before, other PEs of the rank may not
 * have begun it. */
static void was_wrong(const struct llm_pe *me)
{
    me->s->met[me->leap] = *me->s->is_wrong = true;
}

/* Is what follows operation `op` of a rank that is alone something else than in a run of all? */
static bool ends_leap(const struct llm_step *s, size_t op)
{
    return op + 1 == s->n_ops || s->op[op + 1].is_layer != s->op[op].is_layer ||
           llm_between_ranks(&s->op[op + 1]);
}

/* Its DMA may still keep the time from one command to the next. */
static bool is_paced(const struct llm_pe *me)
{
    return tl_paced_fs(me->tl) > llm_now_fs(me);
}

void llm_end(const struct llm_pe *me, size_t done)
{
    tl_group rank = {.pes = me->pe_of, .n = me->s->pes};

    me->s->came_fs[row(me, done)] = llm_now_fs(me);
    me->s->quiet_fs[row(me, done)] = tl_filled_fs(me->tl);
    if (me->s->pes > 1)
        tl_barrier(me->tl, rank);
    tl_wait_all(me->tl);
    me->s->end_fs[row(me, done)] = llm_now_fs(me);
    if (me->s->known && tl_met_fs(me->tl) < me->quiet_fs)
        was_wrong(me);
    if (me->s->alone && ends_leap(me->s, done) && is_paced(me))
        *me->s->is_wrong = true;
    has_done(me, done);
}

void llm_leave_out(const struct llm_pe *me, size_t done)
{
    me->s->came_fs[row(me, done)] = me->s->end_fs[row(me, done)] = llm_now_fs(me);
    has_done(me, done);
}

/* Operations from `op` on, before the layers, in one or behind them, in which the rank is alone. */
static size_t alone_from(const struct llm_step *s, size_t op)
{
    size_t n = 0;

    while (op + n < s->n_ops && s->op[op + n].is_layer == s->op[op].is_layer &&
           !llm_between_ranks(&s->op[op + n]))
        n++;
    return n;
}

/* The operations among which `op` is, in which the rank is alone: where they are in llm_step.met.
 */
static size_t leap_at(const struct llm_pe *me, size_t op)
{
    const struct llm_step *s = me->s;
    struct llm_layout l = llm_layout_of(s);
    size_t first = op, layer = op < l.before ? 0 : (size_t)me->layer;

    while (first > 0 && s->op[first - 1].is_layer == s->op[op].is_layer &&
           !llm_between_ranks(&s->op[first - 1]))
        first--;
    if (op >= l.before + l.each)
        layer = (size_t)s->layers - 1;
    return (first + layer * l.each) * s->ranks + me->rank;
}

/* The first PE of the rank that leaps leaves the ids free of what all of them leap over. */
static void leave_ids(const struct llm_pe *me, size_t op, size_t end, int64_t later_fs)
{
    const struct llm_draws *draws = &me->s->known->leap[op];

    if (me->s->leapt[me->rank] == end)
        return;
    me->s->leapt[me->rank] = end;
    tl_skip(me->tl, draws->draw, draws->n, later_fs, me->pe_of);
}

size_t llm_leap(struct llm_pe *me, size_t op, size_t done)
{
    const struct llm_step *s = me->s;
    size_t n = alone_from(s, op);

    if (!s->known || op == 0 || n == 0 || s->met[leap_at(me, op)])
        return 0;
    me->leap = leap_at(me, op);
    me->quiet_fs = s->known->quiet_fs[row_known(me, op + n - 1)];
    size_t last = row(me, done + n - 1);
    int64_t later = s->end_fs[row(me, done - 1)] - s->known->end_fs[row_known(me, op - 1)];
    me->quiet_fs += later;
    bool was_paced = is_paced(me);
    for (size_t i = 0; i < n; i++) {
        s->came_fs[row(me, done + i)] = s->known->came_fs[row_known(me, op + i)] + later;
        s->end_fs[row(me, done + i)] = s->known->end_fs[row_known(me, op + i)] + later;
    }
    if (s->known->leap)
        leave_ids(me, op, done + n, later);
    int64_t end_fs = s->end_fs[last];
    tl_idle(me->tl, s->came_fs[last] - llm_now_fs(me));
    llm_end(me, done + n - 1);
    if (was_paced || s->end_fs[last] != end_fs)
        was_wrong(me);
    return n;
}
