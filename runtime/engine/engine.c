/* engine.c -- runs a simulation: by hop if its options ask for that, else by the engine of
 * arrivals.
 */
#include "engine/engine.h"
#include "engine/hop.h"
#include "engine/inorder.h"
#include "engine/traffic.h"
#include "machine/alone.h"

const char topology_release[] = KB_VERSION;

/*
 * Which links are passed together with the one that feeds them: network/turn.h, "Which links are
 * no stops". Where costs are left out several may enter a link at one instant.
 */
static void join_links(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    bool one_channel = true;

    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].read_channels > 1 || t->kinds[kind].write_channels > 1)
            one_channel = false;
    s->fed = s->fed_first = 0;
    if (t->links != MODE_FIFO || s->options.costs_off || sim_is_watched(s))
        return;
    if (t->impls && t->impls->nodes)
        return; /* network/component_node.h: each link is a stop */
    s->fed = (s->ways & WAY_BOTH) == WAY_BOTH || topology_has_l2(t) ? FED_ALWAYS : FED_ONE_WAY;
    if (s->fed == FED_ONE_WAY && !(s->ways & WAY_OF_HOST))
        s->fed |= FED_BY_PES;
    s->fed_first = s->sorted || one_channel ? s->fed : 0;
}

kb_status engine_run(struct kb_sim *s, uint64_t budget)
{
    kb_status status;

    join_links(s);
    s->started = true;
    s->over = false;
    status = (s->options.engine == KB_HOP ? hop_run : inorder_run)(s, budget);
    if (status == KB_OK && idle_has_lost(s->idle))
        status = KB_NO_MEMORY;
    if (status == KB_OK && s->n_done < sim_txn_count(s) && queues_never_end(s))
        status = s->pause_fs == UINT64_MAX ? KB_DEADLOCK : sim_paused(s, s->pause_fs);
    if (status == KB_OK && s->n_done < s->n_txns)
        status = KB_STOPPED; /* a response comes after until_fs */
    if (status != KB_AGAIN)
        s->status = status;
    return status;
}
