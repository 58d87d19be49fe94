/*
 * inorder_lists.c -- rows in the order of their issue: a list for each channel and each pipe of a
 * host, or one of all.
 *
 * Rows that wait for no others stand in the list of their channel before the run begins, in order
 * of (issue, id). What is in a list has no event; so a million rows that are issued at 0 are as
 * many events as there are channels. A host has no channel; its rows stand in pipes, of which all
 * members need the same time to their first station.
 *
 * Where each issue is an event, all rows are one list, in the same order, and the next one is
 * posted when one comes.
 */
#include "engine/inorder_lists.h"
#include "engine/observer.h"
#include "network/network_router.h"
#include <stdlib.h>

static uint32_t most_channels(const struct kb_topology *t)
{
    uint32_t most = 0;

    for (uint32_t kind = 0; kind < t->n_kinds; kind++) {
        const struct kind_row *row = &t->kinds[kind];
        uint32_t n =
            row->read_channels > row->write_channels ? row->read_channels : row->write_channels;

        most = n > most ? n : most;
    }
    return most;
}

/* -- one row -------------------------------------------------------------------------------- */

uint64_t inorder_host_lead(struct kb_sim *s, struct txn *x)
{
    struct program *p = &s->inorder->program;
    struct host_row walked;
    const struct host_row *host = program_host(p, T, x, &walked);

    x->step = host->begin;
    x->stage = stage_to(&p->steps[host->begin.row]);
    x->drain_fs = p->ideal ? program_whole_drain(p, T, x, host->link_gbs) : 0;
    return (uint64_t)host->lead_fs;
}

/* It sets out, whole or a part of one. */
static void leave_pcie_ep(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (T->links == MODE_ROUTER)
        router_set_out(s, t, slot);
    else
        put_off_arrival(s, t + inorder_host_lead(s, &s->txns[slot]), slot);
}

void inorder_leave_host(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t part = s->splits ? s->splits[slot].next : TXN_NONE;

    if (part == TXN_NONE) {
        leave_pcie_ep(s, t, slot);
        return;
    }
    s->txns[slot].stage = TXN_SPLIT;
    for (; part != TXN_NONE; part = s->splits[part].next) {
        s->txns[part].issue_fs = s->txns[slot].issue_fs;
        leave_pcie_ep(s, t, part);
    }
}

/* Do all of a pipe need the same time to their first station? */
static bool has_one_lead(const struct kb_sim *s)
{
    return T->regular && !s->splits && T->links != MODE_ROUTER;
}

void inorder_post_pipe(struct kb_sim *s, struct txn_list *pipe)
{
    uint32_t slot = txn_take(pipe, s->txns);
    struct txn *x = &s->txns[slot];
    uint64_t lead_fs = has_one_lead(s) ? inorder_host_lead(s, x) : 0;

    x->piped = true;
    if (lead_fs)
        put_off_arrival(s, (uint64_t)x->issue_fs + lead_fs, slot);
    else
        post(s, (uint64_t)x->issue_fs, EV_ISSUE, slot);
}

void inorder_post_row(struct kb_sim *s)
{
    uint32_t slot = sim_next_row(s);

    if (slot == TXN_NONE)
        return;
    s->next_row++;
    s->txns[slot].piped = true;
    post(s, (uint64_t)s->txns[slot].issue_fs, EV_ISSUE, slot);
}

/*
 * The list in which a host's waits: that of its engine, if all that come there take as long, so
 * that they come as they are issued; wait_fs is when. Else that of its pipe.
 */
static struct txn_list *list_of_host(struct kb_sim *s, struct txn *x)
{
    uint64_t lead_fs = s->inorder->engine_lists ? inorder_host_lead(s, x) : 0;

    if (!lead_fs)
        return pipe_of(s, x);
    x->wait_fs = (int64_t)after((uint64_t)x->issue_fs, (int64_t)lead_fs);
    return &engine_of(s, x)->queue;
}

/* Behind all that are in its list. */
static void list_row(struct kb_sim *s, uint32_t slot)
{
    struct txn *x = &s->txns[slot];

    txn_append(txn_of_host(x) ? list_of_host(s, x) : &channel_of(s, x)->queue, s->txns, slot);
}

bool inorder_issue(struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    if (!inorder_lists(s))
        return calendar_post(&s->calendar, s->txns, slot, (uint64_t)x->issue_fs, EV_ISSUE);
    list_row(s, slot);
    return true;
}

/* -- all of them ---------------------------------------------------------------------------- */

static void list_rows(struct kb_sim *s)
{
    enum { AHEAD = 16 };

    for (uint32_t slot; (slot = sim_next_row(s)) != TXN_NONE; s->next_row++) {
        if (s->order && s->next_row + AHEAD < s->n_order)
            txn_prefetch(&s->txns[s->order[s->next_row + AHEAD]]);
        list_row(s, slot);
    }
}

/* The first of each pipe has an event. */
static void post_pipes(struct kb_sim *s)
{
    size_t n_pipes = T->links == MODE_FIFO ? T->sips : sim_cubes(T);

    for (size_t i = 0; i < n_pipes; i++)
        if (s->pipes[i].head != TXN_NONE)
            inorder_post_pipe(s, &s->pipes[i]);
}

static bool has_one_engine(const struct kb_topology *t)
{
    bool one = true;

    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        one = one && t->kinds[kind].read_engines == 1 && t->kinds[kind].write_engines == 1;
    return one;
}

/* Engines of m_cpus: do they keep order, and have they lists? */
static void find_engines(struct kb_sim *s)
{
    struct inorder *in = s->inorder;

    in->engines = in->listed && s->ways & WAY_OF_HOST && !s->options.costs_off &&
                  s->topo->links != MODE_ROUTER && has_one_engine(s->topo);
    in->engine_lists = in->engines && in->program.whole && has_one_lead(s);
    if (in->engines)
        s->fed |= FED_ENGINE;
}

static bool make(struct kb_sim *s)
{
    s->inorder = calloc(1, sizeof *s->inorder);
    return s->inorder &&
           (s->topo->links == MODE_ROUTER || program_make(&s->inorder->program, s->topo, &s->mask));
}

/* Points of a sweep mostly have the same: it is looked at again where something else is passed. */
static void find_delays(struct kb_sim *s)
{
    if (s->topo->links == MODE_ROUTER || s->inorder->delays_of == s->fed_first + 1u)
        return; /* with routers what sets out does so at its own time */
    s->inorder->delays_of = s->fed_first + 1u;
    s->inorder->delays = program_delays(&s->inorder->program, s->topo, s->fed_first);
}

/*
 * Do rows wait in lists? With several channels that would have rows of an open loop set out long
 * before their time; where memories choose these would fill lists of what is expected. Loops of
 * lists have no branches of multicasts.
 */
static bool is_listed(const struct kb_sim *s)
{
    return !sim_counts(s) && !s->dependencies && !s->kernels && !s->paces && !s->targets &&
           (!s->inorder->program.chooses || most_channels(s->topo) == 1);
}

bool inorder_begin(struct kb_sim *s)
{
    if (s->inorder && s->inorder->begun)
        return true;
    if (!s->inorder && !make(s))
        return false;
    s->inorder->begun = s->inorder->fresh = true;
    s->inorder->known_ends = TXN_NONE;
    s->inorder->soon = EV_NONE;
    find_delays(s);
    s->inorder->listed = is_listed(s);
    s->inorder->ahead = s->inorder->listed && most_channels(s->topo) == 1 &&
                        !s->options.costs_off && s->topo->links != MODE_ROUTER;
    find_engines(s);
    if (s->inorder->listed) {
        list_rows(s);
        if (s->ways & WAY_OF_HOST)
            post_pipes(s);
    } else {
        inorder_post_row(s);
    }
    return true;
}

void inorder_rewind(struct kb_sim *s)
{
    calendar_clear(&s->calendar);
    if (s->inorder)
        s->inorder->begun = false;
}

void inorder_free(struct kb_sim *s)
{
    if (!s->inorder)
        return;
    program_free(&s->inorder->program);
    free(s->inorder);
}
