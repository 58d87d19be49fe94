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
#include <stdlib.h>

static bool one_channel(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].read_channels > 1 || t->kinds[kind].write_channels > 1)
            return false;
    return true;
}

bool inorder_serves(const struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;

    return t->links != MODE_ROUTER && !t->banked &&
           !(t->impls && (t->impls->nodes || t->impls->queueing)) && !s->kernels &&
           !(s->observer && !s->observer->by_visits) && s->options.engine == KB_FUSED;
}

/* -- one row -------------------------------------------------------------------------------- */

uint64_t inorder_host_lead(struct kb_sim *s, struct txn *x)
{
    const struct trip trip = txn_trip(T, x);

    if (T->links == MODE_IDEAL) {
        struct cost_row way = cost_host_to_engine(T, &trip);

        x->stage = TXN_TO_ENGINE;
        return (uint64_t)cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs);
    }
    const struct program *p = &s->inorder->program;
    struct step_entry entry = program_begin(p, T, x, &x->step.cube);

    x->step.row = entry.row;
    x->stage = TXN_TO_LINK;
    x->drain_fs = 0;
    return (uint64_t)entry.lead_fs;
}

void inorder_leave_host(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    uint32_t part = s->splits ? s->splits[slot].next : TXN_NONE;

    if (part == TXN_NONE) {
        put_off(s, t + inorder_host_lead(s, &s->txns[slot]), EV_ARRIVE, slot);
        return;
    }
    s->txns[slot].stage = TXN_SPLIT;
    for (; part != TXN_NONE; part = s->splits[part].next) {
        s->txns[part].issue_fs = s->txns[slot].issue_fs;
        put_off(s, t + inorder_host_lead(s, &s->txns[part]), EV_ARRIVE, part);
    }
}

void inorder_post_pipe(struct kb_sim *s, struct txn_list *pipe)
{
    uint32_t slot = txn_take(pipe, s->txns);
    struct txn *x = &s->txns[slot];
    uint64_t lead_fs = T->regular && !s->splits ? inorder_host_lead(s, x) : 0;

    x->piped = true;
    if (lead_fs)
        put_off(s, (uint64_t)x->issue_fs + lead_fs, EV_ARRIVE, slot);
    else
        put_off(s, (uint64_t)x->issue_fs, EV_ISSUE, slot);
}

void inorder_post_row(struct kb_sim *s)
{
    uint32_t slot = s->sorted ? s->next_row : s->issues.head;

    if (s->sorted ? slot == s->n_txns : slot == TXN_NONE)
        return;
    if (s->sorted)
        s->next_row++;
    else
        txn_take(&s->issues, s->txns);
    s->txns[slot].piped = true;
    put_off(s, (uint64_t)s->txns[slot].issue_fs, EV_ISSUE, slot);
}

/* Behind all that are in its list. */
static void list_row(struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    txn_append(txn_of_host(x) ? pipe_of(s, x) : &channel_of(s, x)->queue, s->txns, slot);
}

bool inorder_issue(struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    if (!s->inorder || !s->inorder->begun)
        return ev_push(&s->queue, ev_make((uint64_t)x->issue_fs, EV_ISSUE, x->id, slot));
    if (!s->inorder->listed)
        return calendar_post(&s->inorder->calendar, s->txns, slot, (uint64_t)x->issue_fs, EV_ISSUE);
    list_row(s, slot);
    return true;
}

/* -- all of them ---------------------------------------------------------------------------- */

static void list_rows(struct kb_sim *s)
{
    uint32_t next = s->issues.head;

    for (uint32_t slot = 0; s->sorted && slot < s->n_txns; slot++)
        list_row(s, slot);
    for (uint32_t slot = next; !s->sorted && slot != TXN_NONE; slot = next) {
        next = s->txns[slot].next;
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

/* Traffic has drawn its first transactions before the engine was known. */
static void take_over_queue(struct kb_sim *s)
{
    while (s->queue.first != EV_NONE) {
        uint32_t slot = ev_slot(s->queue.first);

        ev_take(&s->queue);
        if (!inorder_issue(s, slot))
            fail(s, KB_NO_MEMORY);
    }
}

static bool make(struct kb_sim *s)
{
    s->inorder = calloc(1, sizeof *s->inorder);
    return s->inorder && program_make(&s->inorder->program, s->topo, &s->mask);
}

/* Points of a sweep mostly have the same: it is looked at again where something else is passed. */
static void find_delays(struct kb_sim *s)
{
    if (s->inorder->delays_of == s->fed_first + 1u)
        return;
    s->inorder->delays_of = s->fed_first + 1u;
    s->inorder->delays = program_delays(&s->inorder->program, s->topo, s->fed_first);
}

bool inorder_begin(struct kb_sim *s)
{
    if (s->inorder && s->inorder->begun)
        return true;
    if (!s->inorder && !make(s))
        return false;
    calendar_clear(&s->inorder->calendar);
    s->inorder->begun = s->inorder->fresh = true;
    find_delays(s);
    s->inorder->listed = !sim_counts(s) && !s->dependencies;
    s->inorder->ahead = s->inorder->listed && one_channel(s->topo) && !s->options.costs_off;
    if (s->inorder->listed) {
        list_rows(s);
        if (s->ways & WAY_OF_HOST)
            post_pipes(s);
    } else {
        inorder_post_row(s);
    }
    take_over_queue(s);
    return true;
}

void inorder_rewind(struct kb_sim *s)
{
    if (s->inorder)
        s->inorder->begun = false;
}

void inorder_free(struct kb_sim *s)
{
    if (!s->inorder)
        return;
    calendar_free(&s->inorder->calendar);
    program_free(&s->inorder->program);
    free(s->inorder);
}
