/*
 * divide.c -- the ways to divide ranks.
 *
 * tp * pp * dp are all units, as --search parallel asks what the whole machine can do; copies share
 * the requests. ep divides tp.
 *
 * Example: 4 units and one request of a model without experts: 4 x 1, 2 x 2, 1 x 4 (tp x pp); with
 * two requests also 2 x 1 and 1 x 2, each with two copies.
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
        d->tp % d->ep || (d->ep > 1 && m->experts == 0))
        return false;
    if (!is_tp_asked(l, d->tp) || !is_asked(o->pp, d->pp) || !is_asked(o->dp, d->dp) ||
        !is_asked(o->ep, d->ep))
        return false;
    return !graph_refuse(m, d->tp, d->tp, why) &&
           !stage_refuse(m->layers, m->dense_layers, d->pp, why) &&
           (m->experts == 0 || !graph_refuse_ep(m, d->tp, d->ep, why));
}

size_t divisions_of(const struct llm *l, int64_t requests, struct division **out)
{
    int64_t units = l->chip.units;
    size_t n = 0, room = 0;

    *out = NULL;
    for (int64_t tp = units; tp > 0; tp--)
        for (int64_t pp = 1; units % tp == 0 && pp <= units / tp; pp++)
            for (int64_t ep = 1; units / tp % pp == 0 && ep <= tp; ep++) {
                struct division d = {tp, pp, ep, units / tp / pp};

                if (!is_possible(l, requests, &d))
                    continue;
                if (n == room)
                    *out = memory_room(*out, n, &room, sizeof **out);
                (*out)[n++] = d;
            }
    return n;
}
