/*
 * divide.c -- the ways to divide a machine.
 *
 * With `parallel`, tp * pp * dp are all units, as it asks what the whole machine can do; copies
 * share the requests. ep divides tp, or the ranks of several copies. With `grid`, each of these is
 * there once for each number of rows that the PEs of a rank can stand in.
 *
 * Example: 4 units of 2 PEs and one request of a model without experts: 4 x 1, 2 x 2, 1 x 4
 * (tp x pp); with two requests also 2 x 1 and 1 x 2, each with two copies. With grids, a decode
 * step of two requests has each of 4 x 1, whose iteration is of two tokens, twice: 1x2 and 2x1.
 */
#include "cli/llm/divide.h"
#include "cli/llm/stage.h"
#include "cli/out/memory.h"

/* An option that was given, or any. */
static bool is_asked(uint64_t option, int64_t n)
{
    return option == 0 || option == (uint64_t)n;
}

static bool is_tp_asked(const struct llm *l, int64_t tp)
{
    bool found = !l->cli->opts.tp;

    for (size_t i = 0; i < l->tps.n; i++)
        found = found || l->tps.value[i] == (uint64_t)tp;
    return found;
}

/* Can the model and the requests be cut like this? */
static bool is_possible(const struct llm *l, int64_t requests, const struct division *d)
{
    const struct opts *o = &l->cli->opts;
    const struct model *m = &l->model;
    char why[256];

    if (requests % d->dp || (o->microbatches > 0 && requests / d->dp % (int64_t)o->microbatches) ||
        (d->ep > 1 && m->experts == 0))
        return false;
    if (!is_tp_asked(l, d->tp) || !is_asked(o->pp, d->pp) || !is_asked(o->dp, d->dp) ||
        !is_asked(o->ep, d->ep))
        return false;
    return !graph_refuse(m, d->tp, d->tp, why) &&
           !stage_refuse(m->layers, m->dense_layers, d->pp, why) &&
           (m->experts == 0 || !graph_refuse_ep(m, d->tp, d->dp, d->ep, why));
}

struct divisions {
    struct division *d; /* of the caller, later */
    size_t n, room;
    int64_t least; /* tokens of a request in the smallest iteration */
};

static void add(struct divisions *all, const struct division *d)
{
    if (all->n == all->room)
        all->d = memory_room(all->d, all->n, &all->room, sizeof *all->d);
    all->d[all->n++] = *d;
}

/* With each of the grids that are asked for, and whose rows all have tokens; 0: none is. */
static void add_grids(const struct llm *l, struct divisions *all, struct division d)
{
    int64_t tokens = d.batch / llm_parts(l, d.batch, d.pp) * all->least;
    uint32_t given = l->chip.grid_p, any = l->search.grids && given == 0;

    for (d.grid_p = any ? 1 : given; d.grid_p <= (any ? l->chip.unit_pes : given); d.grid_p++)
        if (d.grid_p <= tokens && (d.grid_p == 0 || l->chip.unit_pes % d.grid_p == 0))
            add(all, &d);
}

/* The units among all that they can be divided among. */
static void add_divided(const struct llm *l, struct divisions *all)
{
    int64_t units = l->chip.units, requests = (int64_t)l->batches.value[0];

    for (int64_t tp = units; tp > 0; tp--)
        for (int64_t pp = 1; units % tp == 0 && pp <= units / tp; pp++)
            for (int64_t ep = 1; units / tp % pp == 0 && ep <= units / pp; ep++) {
                struct division d = {tp, pp, ep, units / tp / pp, 0, 0};

                d.batch = requests / d.dp;
                if (is_possible(l, requests, &d))
                    add_grids(l, all, d);
            }
}

size_t divisions_of(const struct llm *l, int64_t least, struct division **out)
{
    struct divisions all = {.least = least};
    const struct shape *s = &l->shape;

    if (l->search.divisions)
        add_divided(l, &all);
    for (size_t i = 0; i < l->tps.n && !l->search.divisions; i++)
        add_grids(l, &all,
                  (struct division){(int64_t)l->tps.value[i], s->pp, s->ep, s->dp,
                                    (int64_t)l->batches.value[0], 0});
    *out = all.d;
    return all.n;
}
