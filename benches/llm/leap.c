/*
 * leap.c -- operations of a rank that are known: its PEs wait as long as they took, and issue
 * nothing.
 *
 * Between two collectives of ranks a rank is alone. Its PEs leave a barrier each a fixed time after
 * the last of them has come: the word of the release takes its way. All that they had under way has
 * ended, and where a machine forgets (chip.forgets) nothing else is left of it. So an operation
 * that begins behind a barrier takes, on each PE, what it took one layer before, and only
 * collectives, in which ranks meet at times that shift, have to be simulated in each layer.
 *
 * The first two layers are simulated. If in the second all operations from one collective to the
 * next took what they took in the first, on all PEs of the rank, they are leapt over from the third
 * layer on: each PE waits until it would come to the last barrier, and takes part in that. So which
 * comes first at the collective, and with which command, is as ever. When the barrier ends at
 * another time than is known, the run is wrong, is thrown away and done again without leaps.
 *
 * Example: 16 layers of 11 operations, a prefill of 1024 tokens on 8 cubes in a torus. What is
 * between collectives takes 409.3 us in each layer; all_reduce1 takes 34.65337 to 34.65803 us, by
 * which is first on a link, so no two layers are alike. 2.5 s with the search, 10.5 without leaps.
 */
#include "benches/llm/place.h"
#include <math.h>

static size_t n_pes(const struct llm_step *s)
{
    return (size_t)s->tp * s->pes;
}

/* The place of this PE in the row of what was done. */
static size_t row(const struct llm_pe *me, size_t done)
{
    return done * n_pes(me->s) + (size_t)me->rank * me->s->pes + me->index;
}

int64_t llm_now_fs(const struct llm_pe *me)
{
    return llround(tl_time(me->tl) * 1e6);
}

void llm_end(const struct llm_pe *me, size_t done)
{
    tl_group rank = {.pes = me->pe_of, .n = me->s->pes};

    me->s->came_fs[row(me, done)] = llm_now_fs(me);
    if (me->s->pes > 1)
        tl_barrier(me->tl, rank);
    tl_wait_all(me->tl);
    me->s->end_fs[row(me, done)] = llm_now_fs(me);
    if (me->rank == 0 && me->index == 0)
        *me->s->done = done + 1;
}

/* Operations of a layer from `op` on in which the rank is alone. */
static size_t alone_from(const struct llm_step *s, size_t op)
{
    size_t n = 0;

    while (op + n < s->n_ops && s->op[op + n].is_layer && !llm_between_ranks(&s->op[op + n]))
        n++;
    return n;
}

/* From the end of the operation before the `done`-th to `at` of it, and a layer before. */
static bool is_as_before(const struct llm_step *s, const int64_t *at, size_t done, size_t pe)
{
    size_t here = done * n_pes(s) + pe, before = here - llm_layout_of(s).each * n_pes(s);

    return at[here] - s->end_fs[here - n_pes(s)] == at[before] - s->end_fs[before - n_pes(s)];
}

/* Have `n` operations from the `done`-th on taken what they took a layer before, on this rank? All
 * of its PEs have come to the last barrier, and not all may have left it. */
static bool are_as_before(const struct llm_pe *me, size_t done, size_t n)
{
    const struct llm_step *s = me->s;
    size_t first = (size_t)me->rank * s->pes;

    for (size_t i = 0; i < n; i++)
        for (size_t pe = first; pe < first + s->pes; pe++)
            if (!is_as_before(s, s->came_fs, done + i, pe) ||
                (i < n - 1 && !is_as_before(s, s->end_fs, done + i, pe)))
                return false;
    return true;
}

/* What it took before is what it takes. */
static void take_as_before(const struct llm_pe *me, size_t done)
{
    const struct llm_step *s = me->s;
    size_t before = done - llm_layout_of(s).each;
    int64_t later = s->end_fs[row(me, done - 1)] - s->end_fs[row(me, before - 1)];

    s->came_fs[row(me, done)] = s->came_fs[row(me, before)] + later;
    s->end_fs[row(me, done)] = s->end_fs[row(me, before)] + later;
}

size_t llm_leap(const struct llm_pe *me, size_t op, size_t done)
{
    const struct llm_step *s = me->s;
    size_t n = alone_from(s, op), each = llm_layout_of(s).each;

    if (!s->may_leap || me->layer < 2 || n == 0 ||
        !are_as_before(me, done - (size_t)(me->layer - 1) * each, n))
        return 0;
    for (size_t i = done; i < done + n; i++)
        take_as_before(me, i);
    size_t last = row(me, done + n - 1);
    int64_t end_fs = s->end_fs[last];
    tl_idle(me->tl, s->came_fs[last] - llm_now_fs(me));
    llm_end(me, done + n - 1);
    if (s->end_fs[last] != end_fs)
        *s->is_wrong = true;
    return n;
}
